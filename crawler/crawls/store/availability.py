"""Database errors as the engine understands them: not now, try again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError, connection

from crawler.engine.contract import StoreUnavailable

DEADLOCK_STATE = "40P01"


class Deadlock(Exception):
    """Two transactions waited for each other, and ours was the one to end. It can be made again at once."""


@contextmanager
def available() -> Iterator[None]:
    """A connection that died is given up, so that the next call makes a new one."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        if getattr(error.__cause__, "sqlstate", None) == DEADLOCK_STATE:
            raise Deadlock from error
        if not connection.in_atomic_block:
            connection.close()
        raise StoreUnavailable(f"the database cannot be used: {str(error).strip().splitlines()[0]}") from error
