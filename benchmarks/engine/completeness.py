"""Is what a crawl left behind complete and right? Nothing here is timed but the lookups of links."""

import random
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.corpora import Corpus, paths_in_list
from crawler.archive import open_reader

SAMPLED_RECORDS = 300
SAMPLED_LOOKUPS = 50
SHOWN = 5


class Findings:
    """Lines to print, and how many of them say that something is wrong."""

    def __init__(self) -> None:
        self.wrong = 0

    def tell(self, is_right: bool, text: str) -> None:
        self.wrong += not is_right
        print(f"  {'ok   ' if is_right else 'WRONG'} {text}", flush=True)


def check(corpus: Corpus, root: Path, out: Path) -> int:
    """How many checks failed."""
    findings = Findings()
    with closing(sqlite3.connect(f"file:{database_in(out)}?mode=ro", uri=True)) as database:
        _pages(corpus, database, findings)
        _records(root, out, database, findings)
        _links(database, findings)
    _files(out, findings)
    return findings.wrong


def database_in(out: Path) -> Path:
    files = list(out.rglob("*.sqlite3"))
    if len(files) != 1:
        raise SystemExit(f"there should be one database below {out}, there are {len(files)}")
    return files[0]


def _pages(corpus: Corpus, database: sqlite3.Connection, findings: Findings) -> None:
    attempts = Counter(path_of(url) for (url,) in database.execute("SELECT page_url FROM crawl_log"))
    twice = [path for path, count in attempts.items() if count > 1]
    findings.tell(not twice, f"no URL was asked for twice in {attempts.total():,} requests{_some(twice)}")
    stored = {path_of(url) for (url,) in database.execute("SELECT url FROM crawled_documents WHERE http_status = 200")}
    missing_pages = {path_of(url) for (url,) in database.execute("SELECT page_url FROM crawl_log WHERE status = 404")}
    for kind, found in (("reachable", stored), ("broken", missing_pages)):
        listed = paths_in_list(corpus, kind)
        if listed is None:
            print(f"  -     no list of {kind} pages here: set CRAWLER_VECTORS or provide ../shared/vectors")
            continue
        absent, extra = listed - found, found - listed
        text = f"{kind}: {len(found):,} found, {len(listed):,} listed"
        findings.tell(found == listed, f"{text}{_some(absent, 'absent')}{_some(extra, 'not listed')}")


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _some(paths: "set[str] | list[str]", what: str = "") -> str:
    return f"; {len(paths):,} {what}: {', '.join(sorted(paths)[:SHOWN])}" if paths else ""


def _records(root: Path, out: Path, database: sqlite3.Connection, findings: Findings) -> None:
    """A sample is read by range and compared with the file that was served."""
    rows = database.execute("SELECT url, storage_path FROM crawled_documents WHERE http_status = 200").fetchall()
    sample = random.Random(4).sample(rows, min(SAMPLED_RECORDS, len(rows)))
    read = open_reader(archive_in(out))
    wrong, microseconds = [], []
    for url, storage_path in sample:
        began = time.perf_counter()
        record = read(storage_path)
        microseconds.append((time.perf_counter() - began) * 1e6)
        served = (root / urlsplit(url).path.lstrip("/")).read_bytes()
        if record.url != url or (record.body != served and record.kind != "revisit"):
            wrong.append(url)
    median = sorted(microseconds)[len(microseconds) // 2]
    text = f"{len(sample)} records read by range are what was served, {median:.0f} µs each{_some(wrong, 'are not')}"
    findings.tell(bool(sample) and not wrong, text)


def archive_in(out: Path) -> Path:
    return next(out.rglob("*.warc.gz")).parent


def _files(out: Path, findings: Findings) -> None:
    try:
        import warcio  # noqa: F401
    except ImportError:
        print("  -     warcio is not installed: the files were not opened with it")
        return
    kinds = Counter(_kinds(out))
    right = kinds["response"] + kinds["revisit"] > 0 and not kinds["damaged"]
    findings.tell(right, f"warcio reads every record: {', '.join(f'{n:,} {kind}' for kind, n in kinds.items())}")


def _kinds(out: Path) -> Iterator[str]:
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    for file in sorted(out.rglob("*.warc.gz")):
        with file.open("rb") as stream:
            try:
                for record in ArchiveIterator(stream, check_digests="raise"):
                    record.content_stream().read()
                    yield record.rec_type
            except ArchiveLoadFailed:
                yield "damaged"


def _links(database: sqlite3.Connection, findings: Findings) -> None:
    """Links are found from either end, and both ends agree."""
    rows = database.execute(
        "SELECT url_hash, outlinks_count FROM crawled_documents WHERE outlinks_count > 0"
    ).fetchall()
    sample = random.Random(5).sample(rows, min(SAMPLED_LOOKUPS, len(rows)))
    forwards, backwards, wrong = [], [], []
    for source, count in sample:
        began = time.perf_counter()
        targets = [row[0] for row in database.execute(FORWARDS, [source])]
        forwards.append(time.perf_counter() - began)
        target = random.Random(source).choice(targets) if targets else ""
        began = time.perf_counter()
        sources = {row[0] for row in database.execute(BACKWARDS, [target])}
        backwards.append(time.perf_counter() - began)
        if len(targets) != count or source not in sources:
            wrong.append(source)
    (links,) = database.execute("SELECT sum(outlinks_count) FROM crawled_documents").fetchone()
    times = f"forwards {_milliseconds(forwards)}, backwards {_milliseconds(backwards)}"
    text = f"{links:,} links, {len(sample)} looked up both ways: {times}{_some(wrong, 'disagree')}"
    findings.tell(bool(sample) and not wrong, text)


FORWARDS = "SELECT target_url_hash, target_url, anchor_text FROM outlinks WHERE source_url_hash = ?"
BACKWARDS = "SELECT source_url_hash FROM inlinks WHERE target_url_hash = ?"


def _milliseconds(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    return f"{ordered[len(ordered) // 2] * 1e3:.2f} ms (slowest {ordered[-1] * 1e3:.1f} ms)"
