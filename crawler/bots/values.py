"""UUIDs and times as the two databases have them, for SQL that does not go through Django's models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from crawler.frontier.bulk import list_of


def uuid_list(values: Sequence[UUID]) -> Any:
    """The one parameter for `members`. SQLite has UUIDs as text of 32 digits."""
    vendor = connection.vendor
    return list_of(vendor, [one.hex for one in values] if vendor == "sqlite" else values)


def as_uuid(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


def as_moment(value: Any) -> datetime:
    """Seconds since 1970; or as SQLite has times: as text, or without their zone, which is UTC."""
    if isinstance(value, float):
        return datetime.fromtimestamp(value, UTC)
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
