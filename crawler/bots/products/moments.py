"""Moments as people write them and as the databases keep them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from django.db import connection

from crawler.foundation.errors import InvalidInput
from crawler.frontier.bulk import timestamp

FORM = "Use a date (2026-01-31) or a date and time (2026-01-31T12:00:00Z)"


def read_moment(field: str, text: str | None) -> tuple[datetime | None, bool]:
    """The moment, UTC where it names no zone, and whether only a date was given. Raises InvalidInput."""
    if text is None:
        return None, False
    spoken = text.strip()
    try:
        if len(spoken) == len("2026-01-31"):
            return datetime.combine(date.fromisoformat(spoken), time(), UTC), True
        # In an address + means a blank, which stands before a zone only here.
        moment = datetime.fromisoformat(spoken[:11] + spoken[11:].replace(" ", "+"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC), False
    except (ValueError, OverflowError):
        raise InvalidInput(field=field, reason=f"{text!r} is no moment. {FORM}") from None


def stored_moment(moment: datetime) -> Any:
    """To compare a column with. SQLite compares text of no, three or six decimals: the shortest form of a moment is
    never behind a longer one of the same."""
    if connection.vendor != "sqlite":
        return moment
    return timestamp(moment.timestamp()).rstrip("0").rstrip(".")
