"""Links both ways: the queries, and the views of the same for whoever asks the database itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from crawler.crawls.models import Crawl, FrontierURL, PageInlinks
from crawler.crawls.outlinks_view import LINKS_OF_A_PAGE
from crawler.crawls.queries.links import LinkPage, PageLink, inlinks_of, is_known, outlinks_of
from crawler.crawls.store.links import write_links
from crawler.engine.contract import Outcome, PageOutcome
from crawler.frontier.contract import Entry
from tests.unit.crawls.small_web import Site, crawl, create

pytestmark = pytest.mark.django_db

START = 1_700_000_000.0
COLUMNS = ["id", "source_url_hash", "target_url", "target_url_hash", "anchor_text", "link_type", "discovered_at"]


def urls(count: int, start: int = 0) -> list[str]:
    return [f"https://example.com/{number}" for number in range(start, start + count)]


def rows_of(made: Crawl) -> list[FrontierURL]:
    return list(FrontierURL.objects.filter(crawl=made).order_by("url"))


def links(source: FrontierURL, targets: Iterable[FrontierURL], at: float = START, types: Iterable[str] = ()) -> None:
    """What the store writes for a page with these links."""
    entry = Entry(
        source.pk, source.crawl_id, source.url_hash, source.url, source.domain, source.depth, source.priority, 0, 0, 0
    )
    found = list(targets)
    visit = PageOutcome(entry, "", Outcome.PAGE, "completed", at)
    visit.targets, visit.anchors = [one.pk for one in found], [f"to {one.url}" for one in found]
    visit.types = list(types)
    write_links([visit], {})


def all_of(ask: Callable[..., LinkPage], url_hash: str, limit: int) -> list[PageLink]:
    found: list[PageLink] = []
    page = ask(url_hash, limit=limit)
    while True:
        assert len(page.links) == limit or page.next_cursor is None
        found += page.links
        if page.next_cursor is None:
            return found
        page = ask(url_hash, limit=limit, after=page.next_cursor)


def test_links_of_a_real_crawl(site: Site) -> None:
    made = crawl("links", [site.url("/")])
    seed = FrontierURL.objects.get(url=site.url("/"))
    out = outlinks_of(seed.url_hash, limit=100)
    assert [(one.target_url, one.anchor_text, one.link_type) for one in out.links[:3]] == [
        (site.url("/a"), "first", "hyperlink"), (site.url("/a"), "", "frame"),
        (site.url("/private/x"), "a link", "hyperlink"),
    ]  # fmt: skip
    assert len(out.links) == 9
    a = FrontierURL.objects.get(crawl=made, url=site.url("/a"))
    assert [(one.source_url, one.anchor_text) for one in inlinks_of(a.url_hash, limit=9).links] == [
        (site.url("/"), "first"), (site.url("/"), ""),
    ]  # fmt: skip
    new = FrontierURL.objects.get(url=site.url("/new"))
    assert [one.link_type for one in inlinks_of(new.url_hash, limit=9).links] == ["redirect"]
    assert sorted(view("outlinks")) == sorted(view("inlinks"))


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages_of_any_size_give_every_link_once(limit: int) -> None:
    rows = rows_of(create("made", urls(6)))
    for source in rows:
        links(source, [*rows, rows[0]])
    out = all_of(outlinks_of, rows[2].url_hash, limit)
    assert [one.target_url for one in out] == [row.url for row in [*rows, rows[0]]]
    back = all_of(inlinks_of, rows[0].url_hash, limit)
    assert sorted(one.source_url for one in back) == sorted([row.url for row in rows] * 2)
    assert [one.id for one in back] == sorted({one.id for one in back})


def test_what_nobody_knows() -> None:
    assert not is_known("0" * 64)
    assert outlinks_of("0" * 64, limit=5) == inlinks_of("0" * 64, limit=5) == LinkPage([], None)


def test_a_page_that_changed_no_longer_counts() -> None:
    rows = rows_of(create("made", urls(3)))
    links(rows[0], [rows[1], rows[2]])
    links(rows[0], [rows[2]], START + 60)
    assert PageInlinks.objects.filter(target=rows[1]).exists(), "the note of the first visit is still there"
    assert inlinks_of(rows[1].url_hash, limit=5).links == []
    assert len(inlinks_of(rows[2].url_hash, limit=5).links) == 1
    assert view("inlinks", target_url_hash=rows[1].url_hash) == []
    assert len(view("inlinks", target_url_hash=rows[2].url_hash)) == 1


def test_of_several_crawls_the_newest_version_counts() -> None:
    old, new = rows_of(create("old", urls(3))), rows_of(create("new", urls(3)))
    links(old[0], [old[1]], START)
    links(new[0], [new[2]], START + 60)
    links(old[2], [old[1]], START)
    assert [one.target_url for one in outlinks_of(old[0].url_hash, limit=5).links] == [new[2].url]
    assert [one.source_url for one in inlinks_of(old[1].url_hash, limit=5).links] == [old[2].url]
    assert [one.source_url for one in inlinks_of(old[2].url_hash, limit=5).links] == [new[0].url]
    assert len(view("outlinks")) == 2
    assert sorted(view("outlinks")) == sorted(view("inlinks"))


def test_versions_of_the_same_moment_count_once() -> None:
    one, other = rows_of(create("one", urls(2))), rows_of(create("other", urls(2)))
    links(one[0], [one[1]])
    links(other[0], [other[1]])
    assert len(outlinks_of(one[0].url_hash, limit=5).links) == len(inlinks_of(one[1].url_hash, limit=5).links) == 1
    assert len(view("outlinks")) == len(view("inlinks")) == 1


def test_links_of_a_crawl_that_is_gone_are_gone() -> None:
    made = create("made", urls(2))
    rows = rows_of(made)
    links(rows[0], rows)
    made.delete()
    assert not is_known(rows[0].url_hash)
    assert view("outlinks") == view("inlinks") == []


def test_more_sources_than_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.crawls.queries.links.SOURCES_AT_ONCE", 3)
    rows = rows_of(create("made", urls(8)))
    for source in rows:
        links(source, rows)
    assert len(all_of(inlinks_of, rows[0].url_hash, 5)) == len(all_of(outlinks_of, rows[0].url_hash, 5)) == 8


# The views.


def view(name: str, **where: str) -> list[tuple[Any, ...]]:
    condition = " AND ".join(f"{column} = %s" for column in where) or "TRUE"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(COLUMNS)} FROM {name} WHERE {condition} ORDER BY id", list(where.values()))
        return list(cursor.fetchall())


def test_the_views_say_what_the_queries_say() -> None:
    rows = rows_of(create("made", urls(4)))
    for number, source in enumerate(rows):
        links(source, rows[number:], types=["canonical", *["hyperlink"] * (3 - number)] if number % 2 else ())
    for row in rows:
        out = outlinks_of(row.url_hash, limit=100).links
        assert [shown[:6] for shown in view("outlinks", source_url_hash=row.url_hash)] == [of_link(one) for one in out]
        back = inlinks_of(row.url_hash, limit=100).links
        assert [shown[:6] for shown in view("inlinks", target_url_hash=row.url_hash)] == [of_link(one) for one in back]
    assert view("outlinks") == view("inlinks")
    assert view("outlinks")[0][0] == rows[0].pk * LINKS_OF_A_PAGE


def of_link(one: PageLink) -> tuple[Any, ...]:
    return (one.id, one.source_url_hash, one.target_url, one.target_url_hash, one.anchor_text, one.link_type)


@pytest.mark.parametrize(("name", "column"), [("outlinks", "source_url_hash"), ("inlinks", "target_url_hash")])
def test_each_view_finds_its_side_by_index(name: str, column: str) -> None:
    rows = rows_of(create("made", urls(3)))
    links(rows[0], rows)
    assert not [step for step in plan(f"SELECT * FROM {name} WHERE {column} = %s", rows[0].url_hash) if reads_all(step)]


def plan(sql: str, value: str) -> list[str]:
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":  # which small tables would make it prefer
            cursor.execute("SET LOCAL enable_seqscan = off")
            sql, params = sql.replace("%s", f"'{value}'"), None
        else:
            params = [value]
        cursor.execute(f"{explain} {sql}", params)
        return [str(row[-1]) for row in cursor.fetchall()]


def reads_all(step: str) -> bool:
    return "Seq Scan" in step or (step.startswith("SCAN ") and "VIRTUAL TABLE" not in step)


@pytest.mark.django_db(transaction=True)
def test_the_migration_goes_both_ways() -> None:
    def migrate(name: str) -> None:
        MigrationExecutor(connection).migrate([("crawls", name)])

    def names() -> set[str]:
        with connection.cursor() as cursor:
            found = connection.introspection.get_table_list(cursor)
        return {one.name for one in found if one.type == "v"}

    latest = [name for app, name in MigrationExecutor(connection).loader.graph.leaf_nodes("crawls") if app == "crawls"]
    assert {"outlinks", "inlinks"} <= names()
    try:
        migrate("0001_initial")
        assert not {"outlinks", "inlinks"} & names()
    finally:
        for name in latest:
            migrate(name)
    assert {"outlinks", "inlinks"} <= names()
