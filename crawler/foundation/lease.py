"""Leases: who works on a row, until when, and the fencing token that proves it.

Domain claims, bot locks and task runs are one idea with three columns each:

    holder   who has it, NULL when free
    until    the end of the lease, by the database's clock
    fence    a number that grows with every claim and never shrinks

A lease is *held* while holder and fence are the claimer's and `until` lies ahead. Every write of a
holder goes through `change_if_held` or `finish_if_held`, which name all three, so a holder that was
paused, cut off or whose clock is wrong changes nothing once its lease ended or passed to another.
A lease that ran out is free for the next claim; no one has to clean up after a crash.

SQL given by callers (`where`, `order_by`, `set_sql`) is code, never input; values go in `params`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connections, transaction

from crawler.foundation.clock import Clock, clock_of


@dataclass(frozen=True)
class LeaseTable:
    """The table and the names of its lease columns."""

    table: str
    key: str = "id"
    holder: str = "claimed_by"
    until: str = "claim_expires_at"
    fence: str = "version"
    using: str = "default"
    clock: Clock | None = None  # the database's own unless a test brings another

    @property
    def time(self) -> Clock:
        return self.clock or clock_of(self.using)


@dataclass(frozen=True)
class Lease:
    """Proof of a claim: the row, its holder and the fence it got."""

    key: Any
    holder: str
    fence: int


def claim(
    leases: LeaseTable,
    holder: str,
    *,
    seconds: float,
    limit: int,
    where: str = "TRUE",
    params: Sequence[Any] = (),
    order_by: str | None = None,
) -> list[Lease]:
    """Claim up to `limit` free rows that match `where`, in one statement. No two callers get the same row."""
    statement = CLAIM[connections[leases.using].vendor].format(
        t=leases, time=leases.time, where=where, order_by=order_by or leases.key
    )
    values = [*params, limit, holder, seconds]
    if connections[leases.using].vendor == "sqlite":
        values = [holder, seconds, *params, limit]
    with transaction.atomic(using=leases.using), connections[leases.using].cursor() as cursor:
        cursor.execute(statement, values)
        return [Lease(key, holder, fence) for key, fence in cursor.fetchall()]


def renew_many_if_held(leases: LeaseTable, held: Iterable[Lease], *, seconds: float) -> list[Lease]:
    """Extend each lease that is still held; the ones that are returned are the ones still held."""
    set_sql = f"{leases.until} = {leases.time.later}"
    return [lease for lease in held if change_if_held(leases, lease, set_sql, [seconds])]


def change_if_held(leases: LeaseTable, lease: Lease, set_sql: str, params: Sequence[Any] = ()) -> bool:
    """Write to the row and keep the lease. False, and nothing written, when the lease is not held."""
    statement = (
        f"UPDATE {leases.table} SET {set_sql}"
        f" WHERE {leases.key} = %s AND {leases.holder} = %s AND {leases.fence} = %s"
        f" AND {leases.until} > {leases.time.now_exact}"
    )
    with connections[leases.using].cursor() as cursor:
        cursor.execute(statement, [*params, lease.key, lease.holder, lease.fence])
        return bool(cursor.rowcount == 1)


def finish_if_held(leases: LeaseTable, lease: Lease, set_sql: str = "", params: Sequence[Any] = ()) -> bool:
    """Write to the row and give the lease back, at once. False, and nothing written, when it is not held."""
    freed = f"{leases.holder} = NULL, {leases.until} = NULL"
    return change_if_held(leases, lease, f"{freed}, {set_sql}" if set_sql else freed, params)


# A bare `IN (SELECT … LIMIT)` may be evaluated more than once by PostgreSQL and then updates more rows
# than the limit, so the rows are chosen and locked in a CTE. The volatile clock is only used for what is
# written; the choice uses the stable one and with it an index. After a wait for a lock PostgreSQL checks
# the conditions again on the row's newest version.
CLAIM = {
    "postgresql": """
        WITH free AS (
            SELECT {t.key} FROM {t.table}
            WHERE ({where}) AND ({t.holder} IS NULL OR {t.until} <= {time.now})
            ORDER BY {order_by} LIMIT %s FOR UPDATE SKIP LOCKED
        )
        UPDATE {t.table} AS row SET {t.holder} = %s, {t.until} = {time.later}, {t.fence} = row.{t.fence} + 1
        FROM free WHERE row.{t.key} = free.{t.key}
        RETURNING row.{t.key}, row.{t.fence}
    """,
    # SQLite has one writer at a time; BEGIN IMMEDIATE (our transaction mode) makes us that one first.
    "sqlite": """
        UPDATE {t.table} SET {t.holder} = %s, {t.until} = {time.later}, {t.fence} = {t.fence} + 1
        WHERE {t.key} IN (
            SELECT {t.key} FROM {t.table}
            WHERE ({where}) AND ({t.holder} IS NULL OR {t.until} <= {time.now})
            ORDER BY {order_by} LIMIT %s
        )
        RETURNING {t.key}, {t.fence}
    """,
}
