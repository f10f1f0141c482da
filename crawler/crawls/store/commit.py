"""One batch, one transaction.

First the domain rows are locked and the claims checked: what was done under a claim that is gone is left out. Then
the rest is written: new URLs, what became of the old ones, documents, log, links, images, robots files, counters.
A crash before the commit loses the batch and nothing else; the URLs are still pending.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from django.db import connection, transaction

from crawler.crawls.store import budget
from crawler.crawls.store.documents import touch_unchanged, write_documents, write_log
from crawler.crawls.store.links import write_images, write_links
from crawler.domains import claims, progress
from crawler.domains.progress import Tally
from crawler.engine.contract import Batch, Committed, Outcome, PageOutcome
from crawler.frontier.bulk import list_of, members, uuid_key
from crawler.frontier.contract import Found, Frontier, Settled


def commit(worker: str, batch: Batch, frontier: Frontier, now: float) -> Committed:
    with transaction.atomic():
        wanted = {one.domain for one in batch.found.values() if one.refusal is None}
        progress.remember(wanted, "link", now)
        held = claims.lock_held(worker, (news.claimed for news in batch.domains.values()), wanted)
        lost = [name for name in batch.domains if name not in held]
        pages = [page for page in batch.pages if page.entry.domain in held]
        if batch.is_in_doubt:
            pages = _not_settled(pages)
        put = frontier.put(batch.found.values(), now)  # also what a lost domain's pages led to: it is there
        frontier.settle([_settled(page) for page in pages], now)
        write_documents(pages)
        touch_unchanged(pages)
        write_log(pages)
        write_links(pages, put.ids)
        write_images(pages)
        for domain, file in batch.robots:
            if domain in held:
                progress.keep_robots(domain, file, sha256(file.body).hexdigest())
        progress.grow(put.pending_by_domain, now)
        news = {name: one for name, one in batch.domains.items() if name in held}
        tallies = tally(pages)
        progress.advance({name: tallies.get(name, Tally()) for name in news}, news, now)
        _count(pages, put.added)
        budget.spend(worker, pages)
        batch.secured()
    return Committed(lost, put.ids, put.pending_by_domain)


def _not_settled(pages: list[PageOutcome]) -> list[PageOutcome]:
    """Pages whose URLs are as they were when they were taken: no earlier commit of this batch has come through."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, crawl_count FROM url_frontier WHERE status = 'pending'"
            f" AND id {members(connection.vendor, 'bigint')}",
            [list_of(connection.vendor, [page.entry.id for page in pages])],
        )
        waiting = set(cursor.fetchall())
    return [page for page in pages if (page.entry.id, page.entry.crawl_count) in waiting]


def _settled(page: PageOutcome) -> Settled:
    return Settled(
        page.entry.id, page.status, page.status_code, page.error, page.refusal, page.detail, page.failure_count,
        page.next_crawl_after, int(page.was_attempted),
    )  # fmt: skip


def tally(pages: Sequence[PageOutcome]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for page in pages:
        sums = tallies.setdefault(page.entry.domain, Tally())
        sums.pages += page.outcome in (Outcome.PAGE, Outcome.UNCHANGED)
        sums.failed += page.outcome is Outcome.FAILED
        sums.bytes += page.bytes_downloaded
        sums.images += len(page.images)
        sums.settled += page.status != "pending"
        sums.depth = max(sums.depth, page.entry.depth)
        if page.was_attempted:
            sums.seconds += page.response_seconds
            sums.attempts += 1
        sums.run_id = page.run_id
    return tallies


def _count(pages: Sequence[PageOutcome], added: Sequence[Found]) -> None:
    """The crawls' and runs' own counters."""
    by_crawl: dict[int, list[PageOutcome]] = {}
    for page in pages:
        by_crawl.setdefault(page.entry.crawl_id, []).append(page)
    queued, refused = _added_by_crawl(added)
    for crawl_id in sorted({*by_crawl, *queued, *refused}):
        mine = by_crawl.get(crawl_id, [])
        sums = _sums(mine)
        sums["pages_refused"] += refused.get(crawl_id, 0)
        settled = sum(page.status != "pending" for page in mine)
        _increase("crawl_jobs", crawl_id, sums | {"pages_queued": queued.get(crawl_id, 0) - settled})
        if mine:
            run_id = uuid_key(connection.vendor, mine[0].run_id)
            _increase("crawl_runs", run_id, sums | {"images_found": sum(len(page.images) for page in mine)})


def _increase(table: str, key: int | str, sums: Mapping[str, int]) -> None:
    changes = ", ".join(f"{name} = {name} + %s" for name in sums)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {changes} WHERE id = %s", [*sums.values(), key])


def _sums(pages: Sequence[PageOutcome]) -> dict[str, int]:
    outcomes = [page.outcome for page in pages]
    return {
        "pages_crawled": outcomes.count(Outcome.PAGE) + outcomes.count(Outcome.UNCHANGED),
        "pages_failed": sum(page.outcome is Outcome.FAILED and page.status == "failed" for page in pages),
        "pages_refused": outcomes.count(Outcome.REFUSED),
        "bytes_downloaded": sum(page.bytes_downloaded for page in pages),
    }


def _added_by_crawl(added: Sequence[Found]) -> tuple[Mapping[int, int], Mapping[int, int]]:
    queued: dict[int, int] = {}
    refused: dict[int, int] = {}
    for one in added:
        counts = queued if one.refusal is None else refused
        counts[one.crawl_id] = counts.get(one.crawl_id, 0) + 1
    return queued, refused
