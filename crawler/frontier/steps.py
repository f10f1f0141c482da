"""How often the frontier of each domain has changed, counted in the database, in the transaction that changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from crawler.frontier.bulk import list_of, members

ADVANCE = {
    "sqlite": "UPDATE {table} SET {step} = {step} + 1 WHERE {domain} {among} RETURNING {domain}, {step}",
    # Rows are locked in one order for everybody.
    "postgresql": (
        "UPDATE {table} SET {step} = {table}.{step} + 1 FROM (SELECT {domain} AS name FROM {table}"
        " WHERE {domain} {among} ORDER BY {domain} FOR UPDATE) AS held"
        " WHERE {table}.{domain} = held.name RETURNING {table}.{domain}, {table}.{step}"
    ),
}
CURRENT = "SELECT {domain}, {step} FROM {table} WHERE {domain} {among}"


class Steps(Protocol):
    def advance(self, domains: Iterable[str]) -> dict[str, int]:
        """One step more for each, and its number. Nobody else can advance them until the transaction ends."""
        ...

    def current(self, domains: Iterable[str]) -> dict[str, int]: ...


class SqlSteps:
    """Steps in a column of the table of domains. A domain without a row has none, and is left out of the answers."""

    def __init__(
        self,
        cursor: Callable[[], Any],
        vendor: str,
        *,
        table: str = "domains",
        domain: str = "domain",
        step: str = "frontier_step",
    ) -> None:
        names = {"table": table, "domain": domain, "step": step, "among": members(vendor, "text")}
        self._cursor, self._vendor = cursor, vendor
        self._advance, self._current = ADVANCE[vendor].format(**names), CURRENT.format(**names)

    def advance(self, domains: Iterable[str]) -> dict[str, int]:
        return self._ask(self._advance, domains)

    def current(self, domains: Iterable[str]) -> dict[str, int]:
        return self._ask(self._current, domains)

    def _ask(self, sql: str, domains: Iterable[str]) -> dict[str, int]:
        with self._cursor() as cursor:
            cursor.execute(sql, [list_of(self._vendor, sorted(domains))])
            return dict(cursor.fetchall())
