"""Bad sites, crawled: one small crawl for every row of nasty_servers.jsonl that is a behaviour and not a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Count

from crawler.crawls.models import CrawlLog, Document, FrontierURL
from crawler.domains.models import Domain
from tests.conformance import vectors
from tests.faults.engine_site import Asked, Reply
from tests.unit.engine.in_process import Once, crawling, page

pytestmark = pytest.mark.django_db

ROWS = vectors.rows("nasty_servers.jsonl")
OF_A_SITE = [row for row in ROWS if not row["steps"] and row["category"] in ("redirect", "robots fetch", "trap")]


Site = dict[str, Reply | Callable[[Asked], Reply]]
Behaviour = Callable[[Path], None]


def moved(to: str) -> Reply:
    return Reply("", 302, {"Location": to})


def robots(text: str, status: int = 200, kind: str = "text/plain") -> Reply:
    return Reply(text, status, {"Content-Type": kind})


def two_step_loop(folder: Path) -> None:
    with crawling(folder, {"/": page("/a", "/good"), "/a": moved("/b"), "/b": moved("/a"), "/good": page()}) as crawl:
        crawl.create()
        crawl.run()
    assert (len(crawl.times("/a")), len(crawl.times("/b"))) == (1, 1)
    assert crawl.documents() == {"/", "/good"}


def growing_loop(folder: Path) -> None:
    def on(asked: Asked) -> Reply:
        number = int(asked.path.partition("n=")[2] or 0)
        return moved(f"/r?n={number + 1}")

    with crawling(folder, lambda asked: on(asked) if "/r?" in asked.path else page("/r?n=1")) as crawl:
        crawl.create(max_redirects=5)
        crawl.run()
    assert len(crawl.times()) < 12
    assert "redirect_limit" in crawl.statuses().values()


def drops_credentials(folder: Path) -> None:
    sent: dict[str, set[str]] = {}

    def answer(asked: Asked) -> Reply:
        sent.setdefault(asked.host, set()).update(asked.headers)
        return moved(f"http://127.0.0.2:{crawl.site.port}/") if asked.path == "/away" else page("/away")

    with crawling(folder, answer, "127.0.0.1", "127.0.0.2") as crawl:
        hosts = [f"{host}:{crawl.site.port}" for host in ("127.0.0.1", "127.0.0.2")]
        secrets = {"Authorization": "Bearer s", "Cookie": "c=s", "X-Told": "all"}
        crawl.create(filters={"allowed_domains": hosts}, headers=secrets)
        crawl.run()
    assert {"authorization", "cookie", "x-told"} <= sent["127.0.0.1"]
    assert sent["127.0.0.2"] & {"authorization", "cookie", "x-told"} == {"x-told"}


def redirect_to_disallowed(folder: Path) -> None:
    site: Site = {"/robots.txt": robots("User-agent: *\nDisallow: /no"), "/": page("/a"), "/a": moved("/no/entry")}
    with crawling(folder, site) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.statuses()["/no/entry"] == "robots"
    assert crawl.times("/no/entry") == []


def robots_parked(status: int) -> Behaviour:
    """Nothing but robots.txt is asked for; the seed stays pending, its domain waits."""

    def behaviour(folder: Path) -> None:
        with crawling(folder, {"/robots.txt": robots("later", status), "/": page()}) as crawl:
            crawl.create()
            crawl.run()
        assert {path for _, path in crawl.asked_at} == {"/robots.txt"}
        assert crawl.statuses() == {"/": "pending"}
        domain = Domain.objects.get()
        assert domain.next_crawl_after is not None
        assert domain.claimed_by is None

    return behaviour


def robots_redirect_chain(folder: Path) -> None:
    """Five hops, the last to another host; what is found there holds for the one that was asked."""

    def answer(asked: Asked) -> Reply:
        steps = ["/robots.txt", "/1", "/2", "/3", "/4"]
        if asked.path in steps and asked.host == "127.0.0.1":
            onwards = [*steps[1:], f"http://127.0.0.2:{crawl.site.port}/rules"]
            return moved(onwards[steps.index(asked.path)])
        return robots("User-agent: *\nDisallow: /no") if asked.path == "/rules" else page("/no", "/yes")

    with crawling(folder, answer, "127.0.0.1", "127.0.0.2") as crawl:
        crawl.create()
        crawl.run()
    assert (crawl.statuses()["/no"], crawl.statuses()["/yes"]) == ("robots", "completed")


def robots_too_long(folder: Path) -> None:
    filler = "# padding\n" * (600 * 1024 // 10)
    rules = f"User-agent: *\nDisallow: /early\n{filler}Disallow: /late\n"
    with crawling(folder, {"/robots.txt": robots(rules), "/": page("/early", "/late"), "/late": page()}) as crawl:
        crawl.create()
        crawl.run()
    assert (crawl.statuses()["/early"], crawl.statuses()["/late"]) == ("robots", "completed")


def robots_cached(folder: Path) -> None:
    """A second run uses what the first one read, until it is a day old."""
    site: Site = {"/robots.txt": robots("User-agent: *\nDisallow: /no"), "/": page("/a"), "/a": page("/b", text="a")}
    with crawling(folder, site | {"/b": page(text="b")}) as crawl:
        crawl.create()
        crawl.run(lambda: crawl.documents(), until_done=False)
        crawl.run(lambda: len(crawl.documents()) > 1, until_done=False)
        assert len(crawl.times("/robots.txt")) == 1
        crawl.skipped += 25 * 3600
        crawl.run()
    assert crawl.documents() == {"/", "/a", "/b"}
    assert len(crawl.times("/robots.txt")) == 2


def robots_is_html(folder: Path) -> None:
    text = "<!DOCTYPE html><html><body>Disallow: / is what a page may say<br>404</body></html>"
    with crawling(folder, {"/robots.txt": robots(text, kind="text/html"), "/": page("/a"), "/a": page()}) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.documents() == {"/", "/a"}


def trapped(front: Reply, other: Callable[[Asked], Reply], reason: str) -> Behaviour:
    """The front page leads into the trap as far as it goes; a budget ends the crawl of what is let through."""

    def behaviour(folder: Path) -> None:
        def answer(asked: Asked) -> Reply:
            return Reply("", 404) if asked.path == "/robots.txt" else front if asked.path == "/" else other(asked)

        with crawling(folder, answer) as crawl:
            crawl.create(max_pages=20)
            crawl.run()
        assert crawl.statuses()["/"] == "completed"
        assert reason in FrontierURL.objects.values_list("refusal", flat=True)

    return behaviour


def calendar_trap(asked: Asked) -> Reply:
    return page(f"/cal?month={int(asked.path.rpartition('=')[2]) + 1}", text=asked.path)


def session_ids(folder: Path) -> None:
    """Each answer links to the same three pages under a new session."""

    def answer(asked: Asked) -> Reply:
        if asked.path == "/robots.txt":
            return Reply("", 404)
        session = f"{len(crawl.asked_at):032X}"
        return page(*(f"/page{number};jsessionid={session}" for number in range(3)), text=asked.path.partition(";")[0])

    with crawling(folder, answer) as crawl:
        crawl.create()
        crawl.run()
    assert len(crawl.asked_at) < 20, "it ends by itself"


def soft_404(folder: Path) -> None:
    """The same page for every URL, with links that lead deeper: it ends, and is known for what it is."""
    front = page("/a", "/b", text="the front page")
    lost = page(
        "lost/", "/c", "/d", text="Sorry, there is nothing at this address; perhaps one of these helps you further."
    )
    with crawling(folder, lambda asked: {"/": front, "/robots.txt": Reply("", 404)}.get(asked.path, lost)) as crawl:
        crawl.create()
        crawl.run()
    assert len(crawl.asked_at) < 200
    by_duplicate = dict(Document.objects.values_list("is_duplicate").annotate(Count("url_hash")))
    assert by_duplicate[False] == 2, "the front page, and the lost one once"


def facets(folder: Path) -> None:
    pairs = [(f"/shop?a={n}&b={m}", f"/shop?b={m}&a={n}") for n in range(5) for m in range(5)]
    with crawling(folder, {"/": page(*(url for pair in pairs for url in pair))}) as crawl:
        crawl.create()
        crawl.run()
    assert len(crawl.asked_at) == 2 + len(pairs), "the order of parameters makes no other page"


def deep_nesting(folder: Path) -> None:
    deep = page("<div>" * 100_000, '<a href="/inside">x</a>', "</div>" * 100_000)
    with crawling(folder, {"/": page("/deep"), "/deep": deep, "/inside": page()}) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.documents() == {"/", "/deep", "/inside"}


def long_url(folder: Path) -> None:
    with crawling(folder, {"/": page("/" + "a" * 1_000_000, "/good"), "/good": page()}) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.documents() == {"/", "/good"}
    assert set(FrontierURL.objects.values_list("refusal", flat=True)) <= {None, "url_too_long"}


def many_hosts(folder: Path) -> None:
    """Two thousand are seen, a thousand may be asked for; nobody is, as the budget is used up."""
    names = [f"http://h{number}.trap.example/" for number in range(2_000)]
    with crawling(folder, {"/": page(*names)}) as crawl:
        crawl.create(filters={"allowed_domains": ["127.0.0.1", "trap.example"]}, max_pages=1)
        crawl.run()
    counts = dict(FrontierURL.objects.values_list("refusal").annotate(Count("id")))
    assert counts["registrable_domain"] >= 900
    assert len(crawl.asked_at) == 2


def endless_sitemaps(folder: Path) -> None:
    """An index that names itself and others that name it."""
    index = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</sitemapindex>'

    def answer(asked: Asked) -> Reply:
        if asked.path.endswith(".xml"):
            named = [crawl.site.url(path) for path in ("/sitemap.xml", "/a.xml", "/b.xml")]
            text = index.format("".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in named))
            return Reply(text, headers={"Content-Type": "application/xml"})
        return Reply("", 404) if asked.path == "/robots.txt" else page(text="front")

    with crawling(folder, answer) as crawl:
        crawl.create(use_sitemaps=True)
        crawl.run()
    assert sorted(path for _, path in crawl.asked_at) == ["/", "/a.xml", "/b.xml", "/robots.txt", "/sitemap.xml"]


def billion_laughs(folder: Path) -> None:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "http://127.0.0.1/lol">{entities}]>'
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>&l9;</loc></url></urlset>"
    )
    sitemap = Reply(bomb, headers={"Content-Type": "application/xml"})
    with crawling(folder, {"/sitemap.xml": sitemap, "/": page(text="front")}) as crawl:
        crawl.create(use_sitemaps=True)
        crawl.run()
    assert crawl.statuses() == {"/": "completed"}


def endless_crawl_delay(folder: Path) -> None:
    site: Site = {"/robots.txt": robots("User-agent: *\nCrawl-delay: 86400"), "/": page("/a"), "/a": page()}
    with crawling(folder, site) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.documents() == {"/", "/a"}
    assert 2 * 300 <= crawl.times()[-1] - crawl.times()[0] < 4 * 300


def endless_retry_after(folder: Path) -> None:
    busy = Once(Reply("", 503, {"Retry-After": "999999999"}), page())
    with crawling(folder, {"/": page("/busy"), "/busy": busy}) as crawl:
        crawl.create()
        crawl.run()
    first, second = crawl.times("/busy")
    assert 6 * 3600 <= second - first < 7 * 3600


def storm(folder: Path) -> None:
    """Every third request is turned away for a second: all come in the end, and none before its second is over."""
    count = 0

    def answer(asked: Asked) -> Reply:
        nonlocal count
        if asked.path == "/robots.txt":
            return Reply("", 404)
        count += 1
        if count % 3 == 0:
            turned_away.append(crawl.store.now())
            return Reply("", 429, {"Retry-After": "1"})
        return page(*paths, text=asked.path) if asked.path == "/" else page(text=asked.path)

    turned_away: list[float] = []
    paths = [f"/{number}" for number in range(30)]
    with crawling(folder, answer) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.documents() == {"/", *paths}
    for moment in turned_away:
        assert all(at <= moment or at >= moment + 1 for at in crawl.times())


BEHAVIOURS: dict[str, Behaviour] = {
    "two-step loop": two_step_loop,
    "growing loop": growing_loop,
    "drops credentials across hosts": drops_credentials,
    "301 to robots-disallowed URL": redirect_to_disallowed,
    "robots.txt 5xx": robots_parked(503),
    "robots.txt 429": robots_parked(429),
    "robots.txt redirect chain": robots_redirect_chain,
    "robots.txt >500 KiB": robots_too_long,
    "robots.txt cached": robots_cached,
    "robots.txt is HTML": robots_is_html,
    "calendar trap": trapped(page(*(f"/cal?month={n}" for n in range(2_500))), calendar_trap, "calendar"),
    "session id in path": session_ids,
    "soft 404": soft_404,
    "faceted combinatorics": facets,
    "deep nesting": deep_nesting,
    "1 MB single URL": long_url,
    "10,000 host names": many_hosts,
    "huge sitemap index": endless_sitemaps,
    "XML billion laughs in sitemap": billion_laughs,
    "robots crawl-delay 86400": endless_crawl_delay,
    "Retry-After: 999999999": endless_retry_after,
    "429 storm": storm,
}


@pytest.mark.parametrize("row", OF_A_SITE, ids=lambda row: row["name"])
def test_behaviours(row: dict[str, Any], tmp_path: Path) -> None:
    BEHAVIOURS[row["name"]](tmp_path)


def test_every_attempt_is_in_the_log(tmp_path: Path) -> None:
    """What was asked for, as the site has it, is what the log has, but for robots.txt."""
    site: Site = {
        "/": page("/a", "/b", "/c"),
        "/a": moved("/b"),
        "/b": Once(Reply("", 500), page()),
        "/c": Reply("", 404),
    }
    with crawling(tmp_path, site) as crawl:
        crawl.create()
        crawl.run()
    logged = [url.partition(str(crawl.site.port))[2] for url in CrawlLog.objects.values_list("page_url", flat=True)]
    assert sorted(logged) == sorted(path for _, path in crawl.asked_at if path != "/robots.txt")
