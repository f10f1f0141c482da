"""Identifiers that sort by the time they were made (UUIDv7)."""

from uuid import UUID

from uuid_utils.compat import uuid7

__all__ = ["new_id", "short_id"]


def new_id() -> UUID:
    """A UUIDv7: later ids of one process always sort after earlier ones."""
    return uuid7()


def short_id(prefix: str) -> str:
    """A readable identifier for logs and answers, e.g. ``req_0199f0c2a5b87cc3…``."""
    return f"{prefix}_{uuid7().hex}"
