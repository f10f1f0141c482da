"""Claiming domains: one worker at a time, for half an hour, renewed every ten minutes.

A claim is a lease (foundation/lease.py) on the domain's row; `version` is its fence. Whoever commits work on a domain
locks its row first and checks that the claim is still the one the work was done under.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

from crawler.domains.states import COOLDOWN_DAYS, REFRESH_DAYS, UNREACHABLE, BlockReason, DomainStatus
from crawler.engine.contract import Claimed, Ending, RobotsFile
from crawler.foundation.clock import clock_of
from crawler.foundation.lease import Lease, LeaseTable, claim, renew_many_if_held
from crawler.frontier.bulk import list_of, members, seconds_of, timestamp, update_many, uuid_key

LEASES = LeaseTable("domains")
LEASE_SECONDS = 30 * 60.0
DAY_SECONDS = 86_400.0

DUE = (
    "status IN ('pending', 'active') AND frontier_size > 0 AND (next_crawl_after IS NULL OR next_crawl_after <= {now})"
)
ORDER = "priority_score DESC, last_crawled_at ASC NULLS FIRST"
FIELDS = "id, domain, next_request_at, backoff_level, consecutive_error_count, max_pages_per_run"


def claim_due(worker: str, limit: int, also: str = "TRUE", params: Sequence[Any] = ()) -> list[Claimed]:
    """Domains with URLs to fetch that nobody works on, the most promising first. `also` is a further condition."""
    where = f"{DUE.format(now=clock_of().now)} AND {also}"
    leases = claim(LEASES, worker, seconds=LEASE_SECONDS, limit=limit, where=where, params=params, order_by=ORDER)
    fences = {uuid_key(connection.vendor, lease.key): lease.fence for lease in leases}
    return _with_robots(_loaded(fences)) if fences else []


def _loaded(fences: dict[str, int]) -> list[Claimed]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {FIELDS} FROM domains WHERE id {_in('uuid')}", [_list(fences)])
        rows = cursor.fetchall()
    return [
        Claimed(key, row[1], fences[key], seconds_of(row[2]) or 0.0, row[3], row[4], row[5])
        for row in rows
        for key in (uuid_key(connection.vendor, row[0]),)
    ]


def _with_robots(claimed: list[Claimed]) -> list[Claimed]:
    by_name = {one.name: one for one in claimed}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT domain, origin, fetched_at, expires_at, http_status, body, error FROM robots_records"
            f" WHERE id IN (SELECT max(id) FROM robots_records WHERE domain {_in('text')}"
            " GROUP BY domain, origin)",
            [_list(by_name)],
        )
        for domain, origin, fetched_at, expires_at, status, body, error in cursor.fetchall():
            kept = RobotsFile(
                origin, seconds_of(fetched_at) or 0, seconds_of(expires_at) or 0, status, bytes(body), error
            )
            by_name[domain].robots.append(kept)
    return claimed


def renew(worker: str, held: Iterable[Claimed]) -> list[str]:
    """The names of those that are lost."""
    claimed = list(held)
    leases = [Lease(one.id, worker, one.fence) for one in claimed]
    kept = {lease.key for lease in renew_many_if_held(LEASES, leases, seconds=LEASE_SECONDS)}
    return [one.name for one in claimed if one.id not in kept]


def lock_held(worker: str, claimed: Iterable[Claimed], others: Iterable[str] = ()) -> set[str]:
    """Inside a transaction: the names whose claim still stands. Their rows and the others' are locked until its end,
    all in one order, so that workers whose domains link to each other do not wait for each other in a circle."""
    held = list(claimed)
    names = sorted({one.name for one in held} | set(others))
    lock = " ORDER BY domain FOR UPDATE" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT domain, version, claimed_by,"
            f" claim_expires_at > {clock_of().now_exact} FROM domains WHERE domain {_in('text')}{lock}",
            [_list(names)],
        )
        fences = {row[0]: row[1] for row in cursor.fetchall() if row[2] == worker and row[3]}
    return {one.name for one in held if fences.get(one.name) == one.fence}


ENDED = {
    "id": "uuid",
    "status": "text",
    "block_reason_code": "text",
    "block_reason": "text",
    "next_crawl_after": "timestamptz",
    "block_retries": "smallint",
}


def release(endings: Sequence[Ending], now: float) -> None:
    """Give claims back with the status each domain ends in; inside a transaction, after `lock_held`."""
    if not endings:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT domain, frontier_size, block_retries FROM domains WHERE domain {_in('text')}",
            [_list(one.claimed.name for one in endings)],
        )
        state = {row[0]: (row[1], row[2]) for row in cursor.fetchall()}
        rows = [_ended(one, *state[one.claimed.name], now) for one in endings]
        also = "claimed_by = NULL, claim_expires_at = NULL"
        update_many(cursor, connection.vendor, "domains", ENDED, rows, also=also)


def _ended(one: Ending, frontier_size: int, retries: int, now: float) -> tuple[Any, ...]:
    """What the domain's row becomes when work on it ends."""
    key = one.claimed.id
    if one.blocked:
        reason = BlockReason(one.blocked)
        status = DomainStatus.UNREACHABLE if reason in UNREACHABLE else DomainStatus.BLOCKED
        until = timestamp(now + COOLDOWN_DAYS[reason] * DAY_SECONDS)
        return (key, status.value, reason.value, one.block_reason, until, retries + 1)
    if frontier_size == 0:
        return (key, DomainStatus.EXHAUSTED.value, None, None, timestamp(now + REFRESH_DAYS * DAY_SECONDS), 0)
    due = None if one.not_before is None else timestamp(one.not_before)
    return (key, DomainStatus.ACTIVE.value, None, None, due, retries)


def _in(kind: str) -> str:
    return members(connection.vendor, kind)


def _list(values: Iterable[str]) -> Any:
    return list_of(connection.vendor, values)
