"""URLs find their policies again after policies changed, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection, transaction

from crawler.bots.actions.matching import Matcher, rules_by_domain
from crawler.bots.models import CrawlPolicy, ProductURL
from crawler.bots.states import OPEN
from crawler.foundation.clock import clock_of
from crawler.frontier.bulk import list_of, members, update_many

BATCH = 5_000
ASSIGNED = {"url_hash": "text", "policy_id": "bigint"}
# What gets its first policy is due now, unless a job is under way. What loses its last one is never due.
DUE = (
    "next_due_at = CASE WHEN {new} IS NULL THEN NULL WHEN next_due_at IS NOT NULL OR policy_id IS NOT NULL"
    " THEN next_due_at WHEN EXISTS (SELECT 1 FROM bot_jobs WHERE product_url_hash = url_hash AND bot_jobs.status IN"
    f" ({', '.join(repr(state.value) for state in OPEN)}, 'expired')) THEN NULL ELSE {{now}} END"
)


def assign_policies() -> int:
    """Look through the URLs of domains whose policies changed. How many URLs changed their policy."""
    stale = CrawlPolicy.objects.filter(is_assigned=False).values_list("domain_id", flat=True).distinct()
    return sum(_assign_domain(domain_id) for domain_id in list(stale))


def _assign_domain(domain_id: Any) -> int:
    versions = list(CrawlPolicy.objects.filter(domain=domain_id).values_list("id", "updated_at"))
    matcher = Matcher(rules_by_domain([domain_id]).get(domain_id, []))
    moved, passed_over = 0, 0
    for batch in _batches(domain_id):
        wanted = [(key, matcher.policy_of(url), policy_id) for key, url, policy_id in batch]
        changes = [(key, new) for key, new, old in wanted if new != old]
        done = _write(changes)
        moved += done
        passed_over += len(changes) - done
    if not passed_over:  # by a submit that had the row at that moment; the next round comes back to it
        for policy_id, seen in versions:
            CrawlPolicy.objects.filter(pk=policy_id, updated_at=seen).update(is_assigned=True)
    return moved


def _batches(domain_id: Any) -> Iterator[Sequence[tuple[str, str, int | None]]]:
    last = ""
    while True:
        urls = ProductURL.objects.filter(domain=domain_id, url_hash__gt=last).order_by("url_hash")
        batch = list(urls.values_list("url_hash", "url", "policy_id")[:BATCH])
        if not batch:
            return
        yield batch
        last = batch[-1][0]


@transaction.atomic
def _write(changes: Sequence[tuple[str, int | None]]) -> int:
    """Rows that somebody else has at the moment are passed over: nobody waits for us, nor we in a circle for them."""
    if not changes:
        return 0
    vendor, free = connection.vendor, {key for key, _ in changes}
    with connection.cursor() as cursor:
        if vendor == "postgresql":
            cursor.execute(
                f"SELECT url_hash FROM product_urls WHERE url_hash {members(vendor, 'text')}"
                " FOR NO KEY UPDATE SKIP LOCKED",
                [list_of(vendor, free)],
            )
            free = {row[0] for row in cursor.fetchall()}
        rows = [change for change in changes if change[0] in free]
        _update(cursor, vendor, rows)
    return len(rows)


def _update(cursor: Any, vendor: str, rows: list[tuple[str, int | None]]) -> None:
    now = clock_of().now
    if vendor == "sqlite":
        also = DUE.format(new="%s", now=now)
        cursor.executemany(
            f"UPDATE product_urls SET policy_id = %s, {also} WHERE url_hash = %s",
            [(new, new, key) for key, new in rows],
        )
        return
    update_many(cursor, vendor, "product_urls", ASSIGNED, rows, also=DUE.format(new="v.v1", now=now))
