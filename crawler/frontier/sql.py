"""The frontier in the database (SQLite or PostgreSQL), table `url_frontier`.

It works inside the caller's transaction, through the caller's cursor: what a batch brings and what becomes of its
URLs are one commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from crawler.frontier.bulk import (
    Cursor,
    arrays,
    insert_many,
    list_of,
    members,
    seconds_of,
    timestamp,
    unnest,
    update_many,
)
from crawler.frontier.contract import MAY_PASS, Entry, Found, KeepsNoCopy, Put, Settled, Stats, distinct

FOUND_COLUMNS = {
    "crawl_id": "bigint",
    "url_hash": "text",
    "url": "text",
    "domain": "text",
    "depth": "smallint",
    "priority": "smallint",
    "discovered_from": "text",
    "discovered_by": "text",
    "redirect_hops": "smallint",
    "refusal": "text",
    "refusal_detail": "text",
    "status": "text",
    "discovered_at": "timestamptz",
}
SETTLED_COLUMNS = {
    "id": "bigint",
    "status": "text",
    "last_status_code": "smallint",
    "last_error": "text",
    "refusal": "text",
    "refusal_detail": "text",
    "failure_count": "smallint",
    "next_crawl_after": "timestamptz",
    "last_crawl_attempt": "timestamptz",
    "crawl_count": "smallint",
}
TERMS = ("depth", "priority", "redirect_hops", "discovered_from", "discovered_by")
ADMIT = (
    f"UPDATE url_frontier SET status = 'pending', refusal = NULL, refusal_detail = NULL, next_crawl_after = NULL,"
    f" {', '.join(f'{name} = %s' for name in TERMS)} WHERE id = %s AND status = 'blocked'"
)
# PostgreSQL: numbered in the order they were found, written in one order for everybody, so that two transactions that
# put the same URLs do not wait for each other.
NUMBERED_INSERT = (
    "WITH numbered AS MATERIALIZED (SELECT"
    " nextval((SELECT pg_get_serial_sequence('url_frontier', 'id')::regclass)) AS id, v.*"
    f" FROM {unnest(FOUND_COLUMNS)} AS v({', '.join(FOUND_COLUMNS)}))"
    f" INSERT INTO url_frontier (id, {', '.join(FOUND_COLUMNS)}) SELECT * FROM numbered ORDER BY url_hash, crawl_id"
    " ON CONFLICT DO NOTHING RETURNING crawl_id, url_hash"
)
ENTRY = "id, crawl_id, url_hash, url, domain, depth, priority, crawl_count, failure_count, redirect_hops"
ROW = f"{ENTRY}, next_crawl_after"


class Row(NamedTuple):
    entry: Entry
    next_crawl_after: float | None


class SqlFrontier(KeepsNoCopy):
    """`cursor` opens a cursor of the caller's connection; `vendor` is sqlite or postgresql."""

    def __init__(self, cursor: Callable[[], Any], vendor: str) -> None:
        self.cursor = cursor
        self.vendor = vendor

    def put(self, found: Iterable[Found], now: float) -> Put:
        wanted = distinct(found)
        if not wanted:
            return Put({}, [], {})
        with self.cursor() as cursor:
            before = self._known(cursor, wanted.values())
            fresh = [one for key, one in wanted.items() if key not in before]
            inserted = self._insert(cursor, fresh, now)
            # Read again: on PostgreSQL others may have put, and refused, what we have not seen.
            after = before | self._known(cursor, fresh)
            again = self._admit_again(cursor, [one for key, one in wanted.items() if key not in inserted], after)
        ids = {key: after[key][0] for key in wanted}
        added = [one for one in fresh if (one.crawl_id, one.url_hash) in inserted] + again
        return Put(ids, added, Counter(one.domain for one in added if one.refusal is None), again)

    def _known(self, cursor: Cursor, found: Collection[Found]) -> dict[tuple[int, str], tuple[int, str, str | None]]:
        if not found:
            return {}
        hashes = [one.url_hash for one in found]
        cursor.execute(
            f"SELECT crawl_id, url_hash, id, status, refusal FROM url_frontier WHERE url_hash {self._in('text')}",
            [self._list(hashes)],
        )
        return {(row[0], row[1]): (row[2], row[3], row[4]) for row in cursor.fetchall()}

    def _insert(self, cursor: Cursor, found: list[Found], now: float) -> set[tuple[int, str]]:
        """The keys that were really added: on PostgreSQL another transaction may have been faster."""
        if not found:
            return set()
        moment = timestamp(now)
        rows = [
            (
                one.crawl_id, one.url_hash, one.url, one.domain, one.depth, one.priority, one.discovered_from,
                one.discovered_by, one.redirect_hops, one.refusal, one.detail,
                "blocked" if one.refusal else "pending", moment,
            )
            for one in found
        ]  # fmt: skip
        if self.vendor == "sqlite":  # the one writer is us
            insert_many(cursor, self.vendor, "url_frontier", FOUND_COLUMNS, rows)
            return {(one.crawl_id, one.url_hash) for one in found}
        cursor.execute(NUMBERED_INSERT, arrays(rows))
        return {(row[0], row[1]) for row in cursor.fetchall()}

    def _admit_again(self, cursor: Cursor, wanted: list[Found], known_by_key: dict[Any, Any]) -> list[Found]:
        """One by one and in one order for everybody, like the inserts."""
        again = []
        for one in wanted:
            _, status, refusal = known_by_key[one.crawl_id, one.url_hash]
            if one.refusal is None and status == "blocked" and refusal in MAY_PASS:
                again.append(one)
        again.sort(key=lambda one: (one.url_hash, one.crawl_id))
        return [one for one in again if self._admit(cursor, one, known_by_key[one.crawl_id, one.url_hash][0])]

    def _admit(self, cursor: Cursor, one: Found, number: int) -> bool:
        cursor.execute(ADMIT, [*(getattr(one, name) for name in TERMS), number])
        return cursor.rowcount == 1

    def take(
        self, domain: str, crawls: Collection[int], limit: int, now: float, *, skip: Collection[int] = ()
    ) -> list[Entry]:
        if not crawls:
            return []
        with self.cursor() as cursor:
            cursor.execute(
                f"SELECT {ENTRY} FROM url_frontier WHERE domain = %s AND status = 'pending'"
                f" AND crawl_id {self._in('bigint')} AND (next_crawl_after IS NULL OR next_crawl_after <= %s)"
                " ORDER BY priority, id LIMIT %s",
                [domain, self._list(list(crawls)), timestamp(now), limit + len(skip)],
            )
            rows = cursor.fetchall()
        return [Entry(*row) for row in rows if row[0] not in skip][:limit]

    def settle(self, settled: Sequence[Settled], now: float) -> None:
        moment = timestamp(now)
        rows = [
            (
                one.id, one.status, one.status_code, one.error, one.refusal, one.detail, one.failure_count,
                None if one.next_crawl_after is None else timestamp(one.next_crawl_after),
                moment if one.attempts else None, one.attempts,
            )
            for one in settled
        ]  # fmt: skip
        how = {
            "last_crawl_attempt": "coalesce({new}, last_crawl_attempt)",
            "crawl_count": "crawl_count + {new}",
        }
        with self.cursor() as cursor:
            update_many(cursor, self.vendor, "url_frontier", SETTLED_COLUMNS, rows, how)

    def next_due(self, domain: str, crawls: Collection[int]) -> float | None:
        with self.cursor() as cursor:
            cursor.execute(
                "SELECT count(*), min(coalesce(next_crawl_after, discovered_at)) FROM url_frontier"
                f" WHERE domain = %s AND status = 'pending' AND crawl_id {self._in('bigint')}",
                [domain, self._list(list(crawls))],
            )
            count, due = cursor.fetchone()
        return seconds_of(due) if count else None

    def stats(self, crawl_id: int | None = None, *, now: float) -> Stats:
        where, params = ("crawl_id = %s", [crawl_id]) if crawl_id is not None else ("TRUE", [])
        pending = f"{where} AND status = 'pending'"
        with self.cursor() as cursor:

            def counted(column: str, condition: str) -> dict[Any, int]:
                cursor.execute(
                    f"SELECT {column}, count(*) FROM url_frontier WHERE {condition} GROUP BY {column}", params
                )
                return dict(cursor.fetchall())

            by_status = counted("status", where)
            by_priority, by_domain = counted("priority", pending), counted("domain", pending)
            cursor.execute(
                f"SELECT count(*) FROM url_frontier WHERE {pending} AND next_crawl_after > %s",
                [*params, timestamp(now)],
            )
            (delayed,) = cursor.fetchone()
        waiting = by_status.get("pending", 0)
        return Stats(sum(by_status.values()), by_status, by_priority, by_domain, waiting - delayed, delayed)

    def rows(self, numbers: Iterable[int]) -> list[Row]:
        """URLs as they stand."""
        with self.cursor() as cursor:
            cursor.execute(f"SELECT {ROW} FROM url_frontier WHERE id {self._in('bigint')}", [self._list(list(numbers))])
            return [_row(row) for row in cursor.fetchall()]

    def places(self, numbers: Iterable[int]) -> list[tuple[int, int, str]]:
        """Number, crawl and domain of URLs."""
        with self.cursor() as cursor:
            cursor.execute(
                f"SELECT id, crawl_id, domain FROM url_frontier WHERE id {self._in('bigint')}",
                [self._list(list(numbers))],
            )
            return list(cursor.fetchall())

    def pending_rows(self, domain: str, after: tuple[int, int], limit: int) -> list[Row]:
        """The pending URLs of a domain in order, from behind a (priority, number) on, whenever they are due."""
        with self.cursor() as cursor:
            cursor.execute(
                f"SELECT {ROW} FROM url_frontier WHERE domain = %s AND status = 'pending' AND (priority, id) > (%s, %s)"
                " ORDER BY priority, id LIMIT %s",
                [domain, *after, limit],
            )
            return [_row(row) for row in cursor.fetchall()]

    def _in(self, kind: str) -> str:
        return members(self.vendor, kind)

    def _list(self, values: list[Any]) -> Any:
        return list_of(self.vendor, values)


def _row(values: Sequence[Any]) -> Row:
    return Row(Entry(*values[:-1]), seconds_of(values[-1]))
