"""What becomes of a URL: stored, unchanged, redirected, refused, failed; by a real worker on the test's database."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.archive import open_reader
from crawler.crawls import actions
from crawler.crawls.models import CrawlLog, Document, FrontierURL
from tests.faults.engine_site import WORDS, Asked, Reply
from tests.unit.engine.in_process import Once, crawling, page

pytestmark = pytest.mark.django_db


def text(seed: int = 1, words: int = 300) -> str:
    chance = random.Random(seed)
    return " ".join(f"{chance.choice(WORDS)} {chance.choice(WORDS)}{chance.randrange(100)}." for _ in range(words))


def test_a_page_is_stored_with_what_it_says(tmp_path: Path) -> None:
    front = page("/a", "/b?utm_source=x", "/b", title="The  front &amp; page", ETag='"1"', Content_Language="en")
    with crawling(tmp_path, {"/": front, "/a": page(), "/b?utm_source=x": page(text="b")}) as crawl:
        crawl.create()
        crawl.run()
    document = crawl.document("/")
    assert (document.title, document.etag, document.outlinks_count, document.depth) == ("The front & page", '"1"', 3, 0)
    record = open_reader(tmp_path)(str(document.storage_path))
    assert (record.url, record.status, record.header("etag")) == (crawl.site.url("/"), 200, '"1"')
    assert [path for path, _ in crawl.links("/")] == ["/a", "/b?utm_source=x", "/b?utm_source=x"]
    assert crawl.documents() == {"/", "/a", "/b?utm_source=x"}, "the tracking parameter makes no other page"
    (log,) = CrawlLog.objects.filter(outcome="page", url_hash=document.url_hash)
    assert (log.status, log.storage_path, log.outlinks_found) == (200, document.storage_path, 3)


ODD = b"<html><head><title>a\0b &#0; &#xD800; \xff</title></head><body><a href='/x\0y?\xff&#0;'>an\0chor &#xDC00;</a>"
ODD += b"<img src='/i\0.png' alt='al\0t &#0;' width='9999999999' height='-1'><a href='/next'>" + b"n" * 70_000 + b"</a>"


@pytest.mark.parametrize("kind", ["text/html", "text/html; charset=utf-16", "text/html; charset=nonsense\xff", ""])
def test_odd_bytes_are_no_obstacle(tmp_path: Path, kind: str) -> None:
    """Neither NUL nor lone surrogates nor numbers beyond all bounds keep a batch from being stored."""
    headers = {"ETag": '"' + "e" * 5000, "Last-Modified": "Sun, 31 Feb 99999 25:00:00 GMT"}
    odd = Reply(ODD, headers=headers | {"Content-Type": kind} | ({} if kind else {"Content-Encoding": "x" * 300}))
    with crawling(tmp_path, {"/": page("/odd", "/good"), "/odd": odd, "/good": page(text="g")}) as crawl:
        crawl.create(content_types=["*/*"])
        crawl.run()
    assert {"/", "/odd", "/good"} <= crawl.documents()
    assert "pending" not in crawl.statuses().values()
    assert ("/next" in crawl.statuses()) == (kind in ("text/html", "text/html; charset=nonsense\xff"))


# Again.


def kinds_in(folder: Path) -> dict[str, int]:
    """Kinds of WARC records with an answer in them."""
    found: Counter[str] = Counter()
    for file in folder.glob("*.warc.gz"):
        with file.open("rb") as stream:
            found.update(record.rec_type for record in ArchiveIterator(stream))
    return {kind: found[kind] for kind in ("response", "revisit")}


def test_an_unchanged_page_is_a_revisit(tmp_path: Path) -> None:
    def conditional(asked: Asked) -> Reply:
        return Reply(status=304) if asked.headers.get("if-none-match") == '"x1"' else page("/b", ETag='"x1"')

    with crawling(tmp_path, {"/": conditional, "/b": page(text="always the same, never an ETag")}) as crawl:
        crawl.create()
        crawl.run()
        before = {document.url_hash: document for document in Document.objects.all()}
        actions.queue_again(crawl.crawl)
        actions.start_crawl(crawl.crawl)
        crawl.run()
    for path in ("/", "/b"):
        assert crawl.outcomes(path) == ["page", "unchanged"]
        document = crawl.document(path)
        old = before[document.url_hash]
        assert (document.storage_path, document.content_hash) == (old.storage_path, old.content_hash)
        assert document.crawled_at > old.crawled_at
        assert document.changed_at == old.changed_at
    crawl.crawl.refresh_from_db()
    assert (crawl.crawl.pages_crawled, crawl.crawl.status) == (2, "completed")
    assert kinds_in(tmp_path) == {"response": 2, "revisit": 2}


def test_a_page_that_changed_is_replaced(tmp_path: Path) -> None:
    versions = iter([page("/old", text=text(1)), page("/new", text=text(2))])
    with crawling(tmp_path, {"/": lambda _: next(versions), "/old": page(), "/new": page(text="new")}) as crawl:
        crawl.create()
        crawl.run()
        first = crawl.document("/")
        actions.queue_again(crawl.crawl)
        actions.start_crawl(crawl.crawl)
        crawl.run()
    second = crawl.document("/")
    assert first.content_hash != second.content_hash
    assert [path for path, _ in crawl.links("/")] == ["/new"]
    read = open_reader(tmp_path)
    assert b"/old" in read(str(first.storage_path)).body, "the archive keeps both"
    assert b"/new" in read(str(second.storage_path)).body


# Redirects.


def moved(to: str, status: int = 301) -> Reply:
    return Reply("moved", status, {"Location": to})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_link_and_its_target_is_fetched_once(tmp_path: Path, status: int) -> None:
    site = {"/": page("/old", "/older", "/new"), "/old": moved("/new", status), "/older": moved("/old", status)}
    with crawling(tmp_path, site | {"/new": page(text="here")}) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.links("/old") == [("/new", "redirect")]
    assert crawl.links("/older") == [("/old", "redirect")]
    assert crawl.outcomes("/old") == crawl.outcomes("/older") == ["redirect"]
    assert crawl.documents() == {"/", "/new"}
    assert len(crawl.times("/new")) == len(crawl.times("/old")) == 1


def test_a_redirect_to_the_same_url_is_followed_on_the_spot(tmp_path: Path) -> None:
    """The server insists on its slash; for us both are one URL."""
    with crawling(tmp_path, {"/": page("/folder"), "/folder": moved("/folder/"), "/folder/": page(text="in")}) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.statuses() == {"/": "completed", "/folder": "completed"}
    assert crawl.outcomes("/folder") == ["page"]
    assert len(crawl.times("/folder/")) == 1


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("/a", "/b", {"/a": "completed", "/b": "completed"}),  # a -> b -> a: each is asked once, and that is all
        ("/a/", "/a", {"/a": "redirect_loop"}),
    ],
)
def test_circles_end(tmp_path: Path, first: str, second: str, status: dict[str, str]) -> None:
    with crawling(tmp_path, {"/": page("/a"), first: moved(second), second: moved(first)}) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.statuses() == {"/": "completed"} | status
    assert len(crawl.asked_at) == 4


def test_a_slash_that_robots_disallow_is_not_asked_for(tmp_path: Path) -> None:
    site = {
        "/": page("/folder"),
        "/folder": Reply(status=301, headers={"Location": "/folder/"}),
        "/folder/": page(),
        "/robots.txt": Reply(body=b"User-agent: *\nDisallow: /folder/\n"),
    }
    with crawling(tmp_path, site) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.statuses() == {"/": "completed", "/folder": "robots"}
    assert "/folder/" not in [asked for _, asked in crawl.asked_at]


def test_a_growing_chain_ends(tmp_path: Path) -> None:
    chain = {f"/{n}": moved(f"/{n + 1}") for n in range(20)}
    with crawling(tmp_path, {"/": page("/0")} | chain) as crawl:
        crawl.create(max_redirects=4)
        crawl.run()
    assert crawl.frontier("/4").refusal == "redirect_limit"
    assert "/6" not in crawl.statuses()
    assert crawl.outcomes("/3") == ["redirect"]


@pytest.mark.parametrize(
    ("target", "reason"),
    [("http://169.254.169.254/latest/", "guard"), ("file:///etc/passwd", "invalid_url"), ("http://", "invalid_url")],
)
def test_redirects_that_lead_nowhere(tmp_path: Path, target: str, reason: str) -> None:
    with crawling(tmp_path, {"/": page("/bad", "/good"), "/bad": moved(target), "/good": page()}) as crawl:
        crawl.create(filters={"allowed_domains": ["127.0.0.1", "169.254.169.254"]})
        crawl.run()
    assert crawl.documents() == {"/", "/good"}
    assert reason in FrontierURL.objects.values_list("refusal", flat=True)


def test_a_redirect_to_what_robots_forbids(tmp_path: Path) -> None:
    robots = Reply("User-agent: *\nDisallow: /private\n", headers={"Content-Type": "text/plain"})
    with crawling(tmp_path, {"/robots.txt": robots, "/": page("/a"), "/a": moved("/private/x")}) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.frontier("/private/x").refusal == "robots"
    assert crawl.times("/private/x") == []


# Links that are refused, and better ones.


def test_better_links_admit_what_was_refused(tmp_path: Path) -> None:
    """`/x` is first met by a nofollow link, `/deep` too deep; each is met again on better terms."""
    late = Once(Reply("not yet", 500), page("/deep", "/x"))
    site = {
        "/": page('<a rel="nofollow" href="/x">x</a>', "/1", "/late"),
        "/1": page("/2"),
        "/2": page("/deep", text="2"),
    }
    with crawling(tmp_path, site | {"/late": late, "/x": page(text="x"), "/deep": page("/deeper")}) as crawl:
        crawl.create(max_depth=2)
        crawl.run()
    assert crawl.documents() == {"/", "/1", "/late", "/2", "/x", "/deep"}
    assert crawl.times("/deep")[0] > crawl.times("/late")[1] > crawl.times("/2")[0], "it was refused first"
    assert (crawl.frontier("/x").depth, crawl.frontier("/deep").depth) == (2, 2)
    assert crawl.statuses()["/deeper"] == "depth"
    crawl.crawl.refresh_from_db()
    assert (crawl.crawl.pages_crawled, crawl.crawl.pages_queued) == (6, 0)


def test_depth(tmp_path: Path) -> None:
    with crawling(tmp_path, {"/": page("/1", "/later"), "/1": page("/2"), "/later": page("/a", text="l")}) as crawl:
        crawl.create(max_depth=1)
        crawl.run()
    assert crawl.statuses() == {
        "/": "completed",
        "/1": "completed",
        "/later": "completed",
        "/2": "depth",
        "/a": "depth",
    }


def test_pages_that_ask_not_to_be_followed(tmp_path: Path) -> None:
    meta = '<meta name="robots" content="nofollow">'
    site = {"/": page("/meta", "/header"), "/meta": page(meta, "/m"), "/header": page("/h", X_Robots_Tag="nofollow")}
    with crawling(tmp_path, site) as crawl:
        crawl.create()
        crawl.run()
    statuses = crawl.statuses()
    assert (statuses["/m"], statuses["/h"]) == ("meta_robots", "meta_robots")
    assert crawl.documents() == {"/", "/meta", "/header"}, "the pages themselves are stored"


# Content.


def test_other_content_is_refused_without_its_body(tmp_path: Path) -> None:
    """The server wants to send a gigabyte."""
    pdf = Reply("%PDF-1.7" + "x" * 100_000, headers={"Content-Type": "application/pdf", "Content-Length": str(10**9)})
    with crawling(tmp_path, {"/": page("/file", "/good"), "/file": pdf, "/good": page(text="g")}) as crawl:
        crawl.create()
        crawl.run()
    refused = crawl.frontier("/file")
    assert (refused.status, refused.refusal, refused.refusal_detail) == ("blocked", "content_type", "application/pdf")
    (log,) = CrawlLog.objects.filter(url_hash=refused.url_hash)
    assert log.bytes < 10_000
    assert crawl.documents() == {"/", "/good"}


def test_other_content_where_it_is_wanted(tmp_path: Path) -> None:
    data = Reply('{"a": 1}', headers={"Content-Type": "application/json"})
    with crawling(tmp_path, {"/": page("/data"), "/data": data}) as crawl:
        crawl.create(content_types=["text/html", "application/json"])
        crawl.run()
    assert (crawl.document("/data").content_type, crawl.document("/data").content_length) == ("application/json", 8)


def test_duplicates_and_near_duplicates(tmp_path: Path) -> None:
    """The first one found is the original, in this batch and in later ones."""
    words = text(7)
    near = words.replace("heron", "herring", 2)
    site = {"/": page("/1", "/2", "/near", "/other"), "/1": page(text=words), "/2": page("/3", text="x" + words)}
    site |= {
        "/2": page(text=words),
        "/near": page("/3", text=near),
        "/3": page(text=words),
        "/other": page(text=text(8)),
    }
    with crawling(tmp_path, site) as crawl:
        crawl.create()
        crawl.run()
    first = crawl.document("/1").url_hash
    for path in ("/2", "/3"):
        assert (crawl.document(path).is_duplicate, crawl.document(path).duplicate_of) == (True, first)
    assert (crawl.document("/near").is_duplicate, crawl.document("/near").near_duplicate_of) == (False, first)
    assert (crawl.document("/other").is_duplicate, crawl.document("/other").near_duplicate_of) == (False, None)


# Errors.


@pytest.mark.parametrize(
    ("status", "asked"), [(404, 1), (410, 1), (401, 1), (403, 1), (500, 3), (502, 3), (408, 3), (429, 12), (503, 12)]
)
def test_error_statuses(tmp_path: Path, status: int, asked: int) -> None:
    """What may pass is tried again, later and later; servers that say so are believed longer."""
    with crawling(
        tmp_path, {"/": page("/bad", "/good"), "/bad": Reply("no", status), "/good": page(text="g")}
    ) as crawl:
        crawl.create(max_attempts=3)
        crawl.run()
    bad = crawl.frontier("/bad")
    assert (bad.status, bad.last_status_code, bad.failure_count) == ("failed", status, asked)
    assert crawl.outcomes("/bad") == ["failed"] * asked
    assert crawl.documents() == {"/", "/good"}
    crawl.crawl.refresh_from_db()
    assert (crawl.crawl.pages_failed, crawl.crawl.pages_queued, crawl.crawl.status) == (1, 0, "completed")


def test_an_answer_that_breaks_off_is_tried_again_and_then_kept(tmp_path: Path) -> None:
    short = Reply("half a page", headers={"Content-Length": "1000", "Connection": "close"})
    with crawling(tmp_path, {"/": page("/short"), "/short": short}) as crawl:
        crawl.site.hangs_up.add("/short")
        crawl.create(max_attempts=2)
        crawl.run()
    assert crawl.outcomes("/short") == ["failed", "page"]
    assert crawl.document("/short").is_truncated
