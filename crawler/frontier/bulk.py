"""Many rows in one statement: `executemany` where that is a loop in C (SQLite), arrays where it is a round trip each.

Table, column and type names are code, never input. Times are given as text (`timestamp`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import floor
from typing import Any, Protocol
from uuid import UUID

Columns = dict[str, str]  # name -> PostgreSQL type
Rows = Sequence[tuple[Any, ...]]


class Cursor(Protocol):
    """What we need of a DB-API cursor with `%s` for parameters."""

    rowcount: int

    def execute(self, sql: str, params: Sequence[Any] | None = None) -> Any: ...
    def executemany(self, sql: str, rows: Any) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def fetchone(self) -> Any: ...


def timestamp(seconds: float) -> str:
    """Seconds since 1970 as both databases read them, and as Django writes them to SQLite."""
    whole = floor(seconds)
    return f"{_second(whole)}.{int((seconds - whole) * 1_000_000):06d}"


@lru_cache(64)
def _second(whole: int) -> str:
    """Most times of a batch lie within the same second or two."""
    return datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%d %H:%M:%S")


def uuid_key(vendor: str, value: str | UUID) -> str:
    """A UUID as Django writes it: 32 digits in SQLite, which has no such type."""
    text = str(value)
    return text.replace("-", "") if vendor == "sqlite" else text


def seconds_of(value: Any) -> float | None:
    """A time from the database, text or datetime, as seconds since 1970."""
    if value is None:
        return None
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return float((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def insert_many(cursor: Cursor, vendor: str, table: str, columns: Columns, rows: Rows, conflict: str = "") -> None:
    if not rows:
        return
    names = ", ".join(columns)
    if vendor == "sqlite":
        places = ", ".join(["%s"] * len(columns))
        cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places}) {conflict}", rows)
        return
    cursor.execute(f"INSERT INTO {table} ({names}) SELECT * FROM {unnest(columns)} {conflict}", arrays(rows))


def update_many(
    cursor: Cursor,
    vendor: str,
    table: str,
    columns: Columns,
    rows: Rows,
    how: dict[str, str] | None = None,
    also: str = "",
) -> None:
    """Set columns by key, which `columns` names first. `how` has expressions of `{new}` for columns that are not
    simply replaced; `also` is SQL for further settings."""
    if not rows:
        return
    key, *names = columns
    how = how or {}
    sqlite = vendor == "sqlite"
    # The new values have names of their own: a column's name means what is in the row now.
    new = ["%s" if sqlite else f"v.v{number}" for number in range(len(columns))]
    settings = [f"{name} = {how.get(name, '{new}').format(new=new[at])}" for at, name in enumerate(names, 1)]
    sets = ", ".join(settings + ([also] if also else []))
    if sqlite:
        cursor.executemany(f"UPDATE {table} SET {sets} WHERE {key} = %s", [(*row[1:], row[0]) for row in rows])
        return
    source = f"{unnest(columns)} AS v({', '.join(f'v{number}' for number in range(len(columns)))})"
    cursor.execute(f"UPDATE {table} SET {sets} FROM {source} WHERE {key} = v.v0", arrays(rows))


def members(vendor: str, kind: str) -> str:
    """SQL that holds for a value in a list given as one parameter: `x IN ...` with `list_of`."""
    return "IN (SELECT value FROM json_each(%s))" if vendor == "sqlite" else f"= ANY(%s::{kind}[])"


def list_of(vendor: str, values: Iterable[Any]) -> Any:
    """The one parameter for `members`."""
    return json.dumps(list(values)) if vendor == "sqlite" else list(values)


def unnest(columns: Columns) -> str:
    return f"unnest({', '.join(f'%s::{kind}[]' for kind in columns.values())})"


def arrays(rows: Rows) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]
