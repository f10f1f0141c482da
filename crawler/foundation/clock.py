"""The database's clock, as SQL. Machines disagree about the time; their one database does not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connections


@dataclass(frozen=True)
class Clock:
    """SQL for one database.

    now         the moment the statement began: stable, so an index can be used with it
    now_exact   the moment it is evaluated: later than any wait for a row's lock
    later       now_exact plus a number of seconds, given as one parameter
    epoch       now_exact as seconds since 1970
    """

    now: str
    now_exact: str
    later: str
    epoch: str


CLOCKS = {
    "postgresql": Clock(
        now="statement_timestamp()",
        now_exact="clock_timestamp()",
        later="clock_timestamp() + %s * interval '1 second'",
        epoch="extract(epoch from clock_timestamp())::double precision",
    ),
    # The text form in which Django stores times, so that they compare as text.
    "sqlite": Clock(
        now="strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')",
        now_exact="strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')",
        later="strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', %s || ' seconds')",
        epoch="((julianday('now') - 2440587.5) * 86400.0)",
    ),
}


def clock_of(using: str = "default") -> Clock:
    return CLOCKS[connections[using].vendor]


def database_now(using: str = "default") -> datetime:
    """The time by the database's clock."""
    with connections[using].cursor() as cursor:
        cursor.execute(f"SELECT {clock_of(using).now_exact}", [])
        (value,) = cursor.fetchone()
    return value if isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)
