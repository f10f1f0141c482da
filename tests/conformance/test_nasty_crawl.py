"""Bad servers, crawled: the whole engine on a site of good pages with every nasty one among them.

Rows with a script are served as pages; `EXPECTED` of test_nasty_servers.py says what the client makes of each, here we
look at what is recorded. Rows that are behaviours of a site are in test_nasty_sites.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.archive import open_reader
from crawler.crawls.models import Document, FrontierURL
from crawler.domains.models import Domain
from crawler.fetch.outcome import FailureKind, Truncation
from tests.conformance import vectors
from tests.conformance.scripted_server import GOOD, ScriptedServer
from tests.conformance.test_nasty_servers import BODY_LIMIT, EXPECTED, Page
from tests.unit.engine.in_process import InProcess

pytestmark = pytest.mark.django_db

ROWS = vectors.rows("nasty_servers.jsonl")
SCRIPTED = [row for row in ROWS if row["steps"]]


# Scripted rows: one site with all of them.

ATTEMPTS = 2
TIMEOUT_SECONDS = 0.6  # less than the slow scripts take
REFUSED = {"to non-HTTP scheme": "invalid_url"}
# What becomes of a page that breaks off: asked for again, and then kept as it is.
BROKEN_OFF = [
    name for name, kept in EXPECTED.items() if isinstance(kept, Page) and kept.truncated is Truncation.INCOMPLETE
]


def nasty_path(row: dict[str, Any]) -> str:
    return f"/nasty/{row['_row']}"


def good_page(number: int, links: str = "") -> list[dict[str, bytes]]:
    body = b"<html><body><p>good page %d</p>%s</body></html>" % (number, links.encode())
    return [{"send": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)}]


def serve_all(server: ScriptedServer) -> None:
    """A good page after every nasty one, so that errors are not in a row."""
    links = ""
    for number, row in enumerate(SCRIPTED):
        server.serve(nasty_path(row), row["steps"])
        server.serve(f"/good/{number}", good_page(number))
        links += f'<a href="{nasty_path(row)}">x</a><a href="/good/{number}">x</a>'
    server.serve("/robots.txt", [{"send": GOOD.replace(b"200", b"404")}])
    server.serve("/", good_page(-1, links))
    for target in ("/self", "/caf%E9"):  # where redirects lead
        server.serve(target, good_page(-2))


def test_all_of_them_on_one_site(tmp_path: Path) -> None:
    with ScriptedServer(files=vectors.folder()) as server:
        serve_all(server)
        crawl = InProcess(server, tmp_path)
        limits: dict[str, Any] = {
            "timeout_seconds": TIMEOUT_SECONDS,
            "max_body_bytes": BODY_LIMIT,
            "max_attempts": ATTEMPTS,
        }
        crawl.create(content_types=["*/*"], **limits)
        crawl.run()
    statuses = crawl.statuses()
    assert "pending" not in statuses.values()
    assert {f"/good/{number}" for number in range(len(SCRIPTED))} <= crawl.documents()
    wrong = {row["name"]: told for row in SCRIPTED if (told := what_is_wrong(crawl, row, statuses))}
    assert not wrong
    assert Domain.objects.get(name=f"127.0.0.1:{server.port}").status == "exhausted", "it is not held against the host"
    assert crawl.crawl.runs.get().status == "completed"
    assert_bodies_kept(crawl)
    assert_redirects_judged(statuses)
    assert_all_readable(tmp_path)


def what_is_wrong(crawl: InProcess[ScriptedServer], row: dict[str, Any], statuses: dict[str, str]) -> str:
    """Empty when what is recorded of the row's page is what its answer means."""
    path, expected = nasty_path(row), EXPECTED[row["name"]]
    outcomes, found = crawl.outcomes(path), crawl.frontier(path)
    if row["name"] in REFUSED:
        right = statuses[path] == REFUSED[row["name"]] and outcomes == ["refused"]
    elif isinstance(expected, FailureKind):
        right = found.status == "failed" and str(found.last_error).startswith(expected) and len(outcomes) <= ATTEMPTS
    elif expected.status in (301, 302):
        right = outcomes == ["redirect"]
    elif row["name"] in BROKEN_OFF:
        right = outcomes == ["failed", "page"] and crawl.document(path).is_truncated
    else:
        right = outcomes == ["page"] and found.last_status_code == expected.status
    return "" if right else f"{outcomes} {found.status} {found.refusal} {found.last_status_code} {found.last_error}"


def assert_all_readable(folder: Path) -> None:
    """Whatever the headers were: every document's record is there, and warcio reads every file."""
    read = open_reader(folder)
    for url, path in Document.objects.filter(is_duplicate=False).values_list("url", "storage_path"):
        assert read(str(path)).url.rstrip("/") == url.rstrip("/")
    for file in folder.glob("*.warc.gz"):
        with file.open("rb") as stream:
            assert sum(1 for _ in ArchiveIterator(stream)) > 0


def assert_bodies_kept(crawl: InProcess[ScriptedServer]) -> None:
    paths = {row["name"]: nasty_path(row) for row in SCRIPTED}
    kept = {name: Document.objects.filter(url=crawl.site.url(path)).first() for name, path in paths.items()}
    sizes = {name: (one.content_length, one.is_truncated) for name, one in kept.items() if one}
    assert sizes["gzip bomb"] == (BODY_LIMIT, True), "decoded up to the limit, and no further"
    assert sizes["80 kB in 1 kB chunks over a 64 kB limit"] == (BODY_LIMIT, True)
    assert sizes["truncated gzip"][1]
    pdf = kept["HTML served as application/pdf"]
    assert pdf is not None
    assert (pdf.content_type, pdf.charset, pdf.outlinks_count) == ("application/pdf", None, 0), "not read as HTML"
    assert not [error for error in FrontierURL.objects.values_list("last_error", flat=True) if "\0" in (error or "")]


def assert_redirects_judged(statuses: dict[str, str]) -> None:
    private = FrontierURL.objects.get(url__startswith="http://169.254.169.254/")
    assert private.refusal in ("domain", "guard")
    assert statuses["/caf%E9"] == statuses["/self"] == "completed"
