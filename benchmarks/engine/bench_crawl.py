"""A durable crawl beside Scrapy's in memory: the 10,136 pages of Debian's openjdk-17-doc, by one process on one core.

    python -m benchmarks.engine.bench_crawl [--quick] [--rounds N] [--scrapy-pages N]

nginx serves from one core, the crawler has another. Ours is the real command: `crawler crawl URL --delay 0 --out DIR
--json`, with SQLite, the WARC archive and robots.txt; once with --no-outlinks, once with every link stored. Scrapy
keeps nothing, asks for no robots.txt and has its log off (scrapy_peer.py). The sides take turns, and the fastest round
of each counts. Pages a second are those of the crawl itself; `with start` has the start and the end of the process in
it, for Scrapy reckoned for as many pages as ours when it crawled fewer. The processor's time per page is the whole
process's.

In the same run the crawl is checked to be complete (completeness.py); wrong results make the exit code 1. `--quick`
takes the 1,168 pages of postgresql-doc-15, and 300 of them for Scrapy: for a look, not for a claim.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks import corpora
from benchmarks.corpora import Corpus
from benchmarks.engine.completeness import check
from benchmarks.engine.crawls import Crawled, crawl, crawled, scratch_folder
from benchmarks.engine.processes import cores, run
from benchmarks.engine.verdicts import HEADING, fastest, row, verdict
from benchmarks.engine.webserver import Webserver, serve_sites

WITHOUT, WITH, PEER = "ours without outlinks", "ours with outlinks", "Scrapy"
TARGETS = {WITHOUT: (12, 16), WITH: (8, 12)}  # times Scrapy: wanted, moonshot
ALL_PAGES = 1_000_000
QUICK_CORPUS, QUICK_SCRAPY_PAGES = corpora.OTHERS[0], 300


class Measurement:
    """Both sides in turns over one server."""

    def __init__(self, corpus: Corpus, root: Path, url: str, server: Webserver, core: int, scrapy_pages: int) -> None:
        self.corpus, self.root, self.url, self.server, self.core = corpus, root, url, server, core
        self.scrapy_pages = scrapy_pages
        self.rounds: dict[str, list[Crawled]] = {PEER: [], WITHOUT: [], WITH: []}
        self.wrong = 0

    def take_turns(self, rounds: int) -> None:
        for number in range(rounds):
            self._ours(WITHOUT, "--no-outlinks")
            self._ours(WITH, checked=number == 0)
            if number == 0 or self.scrapy_pages != ALL_PAGES:  # all its pages take minutes: once is enough
                self._note(PEER, scrapy(self.url, self.scrapy_pages, self.core))

    def _ours(self, name: str, *options: str, checked: bool = False) -> None:
        with scratch_folder() as out:
            before = self.server.cpu_seconds()
            done = crawl([self.url], out, [self.core], *options)
            busy = (self.server.cpu_seconds() - before) / done.wall_seconds
            self._note(f"{name} (its server's core was {busy:.0%} busy)", done, name)
            if checked:
                self.wrong += check(self.corpus, self.root, out)

    def _note(self, text: str, done: Crawled, name: str = "") -> None:
        self.rounds[name or text].append(done)
        print(row(f"{text}, {done.pages:,} pages", done), flush=True)


def scrapy(url: str, pages: int, core: int) -> Crawled:
    ran = run([sys.executable, "-m", "benchmarks.engine.scrapy_peer", url, str(pages)], [core], {})
    figures = json.loads(ran.output)
    return crawled(ran, figures)


def print_verdicts(rounds: dict[str, list[Crawled]]) -> None:
    peer = fastest(rounds[PEER])
    for name, (target, moonshot) in TARGETS.items():
        ours = fastest(rounds[name])
        ratio = ours.pages_per_second / peer.pages_per_second
        print(verdict(f"{name} / Scrapy", ratio, target, moonshot=moonshot, of=[ours, peer]))
        start = peer.wall_seconds - peer.seconds
        with_start = ours.pages / (start + ours.pages / peer.pages_per_second)
        print(f"  with the start of the processes: {ours.pages_per_second_with_start / with_start:.2f}x")
        cpu = peer.cpu_microseconds_per_page / ours.cpu_microseconds_per_page
        print(f"  by the processor's time per page: {cpu:.2f}x")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few pages: for a look, not for a claim")
    parser.add_argument("--rounds", type=int, default=0, help="turns of each side (3; quick: 1)")
    parser.add_argument("--scrapy-pages", type=int, default=0, help="stop Scrapy after so many (all; quick: 300)")
    chosen = parser.parse_args()
    corpus = QUICK_CORPUS if chosen.quick else corpora.OPENJDK
    scrapy_pages = chosen.scrapy_pages or (QUICK_SCRAPY_PAGES if chosen.quick else ALL_PAGES)
    for_server, for_crawler = cores(2)
    root = corpora.folder_of(corpus)
    with serve_sites([root], [for_server]) as (server, (port,)):
        url = f"http://127.0.0.1:{port}{corpus.start}"
        measurement = Measurement(corpus, root, url, server, for_crawler, scrapy_pages)
        print(f"{corpus.package}: nginx on core {for_server}, crawler on core {for_crawler}\n{HEADING}")
        measurement.take_turns(chosen.rounds or (1 if chosen.quick else 3))
    print_verdicts(measurement.rounds)
    return int(measurement.wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
