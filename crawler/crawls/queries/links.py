"""Links of a page, out of it and into it, one by one and page by page.

The packed tables keep the links of a page in one row (`PageOutlinks`) and name for every target the pages that had a
link to it (`PageInlinks`). The latter are candidates only: what a page links to is what its newest version says, also
when several crawls fetched it. Every answer takes a handful of index lookups; only a target that very many pages link
to costs more, as the numbers of all of them are read to put them in order.

The cursor is the number of the last link that was given; it stays good while pages are fetched anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from django.db import connection

from crawler.crawls.models import FrontierURL, PageInlinks, PageOutlinks
from crawler.crawls.outlinks_view import LINKS_OF_A_PAGE

SOURCES_AT_ONCE = 100


class PageLink(NamedTuple):
    id: int
    source_url: str
    source_url_hash: str
    target_url: str
    target_url_hash: str
    anchor_text: str
    link_type: str
    discovered_at: datetime


class LinkPage(NamedTuple):
    """`next_cursor` is None when these were the last."""

    links: list[PageLink]
    next_cursor: int | None


def is_known(url_hash: str) -> bool:
    return FrontierURL.objects.filter(url_hash=url_hash).exists()


def outlinks_of(url_hash: str, *, limit: int, after: int = -1) -> LinkPage:
    """What the newest version of a page links to, in the page's order, after the link with the number `after`."""
    return _paged(_outlinks(url_hash, after), limit)


def inlinks_of(url_hash: str, *, limit: int, after: int = -1) -> LinkPage:
    """Links of other pages (and of itself) to this one, in the order in which those pages were found."""
    return _paged(_inlinks(url_hash, after), limit)


def count_outlinks(url_hash: str) -> int:
    page = _newest_version(url_hash)
    return len(json.loads(page.targets)) if page else 0


def count_inlinks(url_hash: str, *, at_most: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM (SELECT 1 FROM inlinks WHERE target_url_hash = %s LIMIT %s) AS counted",
            [url_hash, at_most],
        )
        return int(cursor.fetchone()[0])


def _paged(links: Iterator[PageLink], limit: int) -> LinkPage:
    found = list(islice(links, limit + 1))
    more = found[limit - 1].id if len(found) > limit else None
    return LinkPage(found[:limit], more)


def _outlinks(url_hash: str, after: int) -> Iterator[PageLink]:
    page = _newest_version(url_hash)
    if page is None:
        return
    numbers = json.loads(page.targets)
    start = max(0, after + 1 - page.source_id * LINKS_OF_A_PAGE)
    while start < len(numbers):
        end = start + SOURCES_AT_ONCE
        targets = FrontierURL.objects.only("url", "url_hash").in_bulk(numbers[start:end])
        places = [place for place in range(start, min(end, len(numbers))) if numbers[place] in targets]
        yield from _links_at(page, places, [targets[numbers[place]] for place in places])
        start = end


def _newest_version(url_hash: str) -> PageOutlinks | None:
    versions = PageOutlinks.objects.filter(source__url_hash=url_hash).select_related("source")
    return versions.order_by("-discovered_at", "-source_id").first()


def _links_at(page: PageOutlinks, places: Sequence[int], targets: Sequence[FrontierURL]) -> Iterator[PageLink]:
    anchors = json.loads(page.anchors)
    types = json.loads(page.types) if page.types else None
    for place, target in zip(places, targets, strict=True):
        yield PageLink(
            page.source_id * LINKS_OF_A_PAGE + place, page.source.url, page.source.url_hash, target.url,
            target.url_hash, anchors[place], types[place] if types else "hyperlink", page.discovered_at,
        )  # fmt: skip


def _inlinks(url_hash: str, after: int) -> Iterator[PageLink]:
    targets = {row.pk: row for row in FrontierURL.objects.filter(url_hash=url_hash).only("url", "url_hash")}
    candidates = _candidates(targets, after // LINKS_OF_A_PAGE)
    for start in range(0, len(candidates), SOURCES_AT_ONCE):
        for page in _newest_versions(candidates[start : start + SOURCES_AT_ONCE]):
            numbers = json.loads(page.targets)
            first = page.source_id * LINKS_OF_A_PAGE
            places = [at for at, number in enumerate(numbers) if number in targets and first + at > after]
            yield from _links_at(page, places, [targets[numbers[at]] for at in places])


def _candidates(targets: Iterable[int], first: int) -> list[int]:
    """Numbers of pages that had a link to one of the targets, each once, from `first` on."""
    batches = PageInlinks.objects.filter(target_id__in=list(targets)).values_list("sources", flat=True)
    sources: set[int] = set()
    for batch in batches:
        sources.update(json.loads(batch))
    return sorted(number for number in sources if number >= first)


def _newest_versions(sources: Sequence[int]) -> list[PageOutlinks]:
    """The links of these pages, without versions that another crawl has fetched anew since."""
    pages = list(PageOutlinks.objects.filter(pk__in=sources).select_related("source").order_by("pk"))
    versions = PageOutlinks.objects.filter(source__url_hash__in=[page.source.url_hash for page in pages])
    newest: dict[str, tuple[datetime, int]] = {}
    for url_hash, moment, number in versions.values_list("source__url_hash", "discovered_at", "source_id"):
        newest[url_hash] = max(newest.get(url_hash, (moment, number)), (moment, number))
    return [page for page in pages if newest[page.source.url_hash][1] == page.source_id]
