"""New rows of product URLs, as fast as each database takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from crawler.foundation.clock import clock_of
from crawler.frontier.bulk import list_of, members


class NewURL(NamedTuple):
    url_hash: str
    url: str
    domain_id: UUID
    policy_id: int | None


class Inserted(NamedTuple):
    added: int
    without_policy: int


# COPY takes half of what arrays cost, and the conflict clause tells what was there before.
INCOMING = (
    "CREATE TEMPORARY TABLE IF NOT EXISTS incoming_product_urls (url_hash text, url text, domain_id uuid,"
    " policy_id bigint) ON COMMIT DELETE ROWS"
)
EMPTY = "TRUNCATE incoming_product_urls"  # a caller's transaction may have brought others before
COPY, NULL = "COPY incoming_product_urls FROM STDIN", r"\N"
TAKE_OVER = """
WITH added AS (
    INSERT INTO product_urls (url_hash, url, domain_id, policy_id, next_due_at, failure_streak, created_at)
    SELECT url_hash, url, domain_id, policy_id, CASE WHEN policy_id IS NOT NULL THEN statement_timestamp() END, 0,
        statement_timestamp()
    FROM incoming_product_urls ORDER BY url_hash
    ON CONFLICT (url_hash) DO NOTHING RETURNING policy_id
)
SELECT count(*), count(*) FILTER (WHERE policy_id IS NULL) FROM added
"""
INSERT = (
    "INSERT INTO product_urls (url_hash, url, domain_id, policy_id, next_due_at, failure_streak, created_at)"
    " VALUES (%s, %s, %s, %s, CASE WHEN %s IS NOT NULL THEN {now} END, 0, {now})"
)


def insert_new(rows: Sequence[NewURL]) -> Inserted:
    """Those that are not there yet, due now if a policy covers them. To be called in a transaction."""
    return INSERTS[connection.vendor](rows)


def known_hashes(hashes: Sequence[str]) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT url_hash FROM product_urls WHERE url_hash {members(connection.vendor, 'text')}",
            [list_of(connection.vendor, hashes)],
        )
        return {row[0] for row in cursor.fetchall()}


def _insert_postgresql(rows: Sequence[NewURL]) -> Inserted:
    with connection.cursor() as cursor:
        cursor.execute(INCOMING)
        cursor.execute(EMPTY)
        with cursor.copy(COPY) as copy:
            copy.write("".join(_line(*row) for row in rows))
        cursor.execute(TAKE_OVER)
        return Inserted(*cursor.fetchone())


def _line(url_hash: str, url: str, domain_id: UUID, policy_id: int | None) -> str:
    """As COPY reads it. Of what it takes for a sign of its own a URL can only have the backslash."""
    escaped = url.replace("\\", "\\\\") if "\\" in url else url
    return f"{url_hash}\t{escaped}\t{domain_id}\t{NULL if policy_id is None else policy_id}\n"


def _insert_sqlite(rows: Sequence[NewURL]) -> Inserted:
    """The only writer, so nobody comes between the look and the insertion."""
    known = known_hashes([row.url_hash for row in rows])
    new = [row for row in rows if row.url_hash not in known]
    values: list[tuple[Any, ...]] = [
        (row.url_hash, row.url, row.domain_id.hex, row.policy_id, row.policy_id) for row in new
    ]
    with connection.cursor() as cursor:
        cursor.executemany(INSERT.format(now=clock_of().now), values)
    return Inserted(len(new), sum(row.policy_id is None for row in new))


INSERTS = {"postgresql": _insert_postgresql, "sqlite": _insert_sqlite}
