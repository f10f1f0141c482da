"""Is the database as old as the code, and bringing it up to date, one process at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

SETUP_LOCK = 0x43_52_41_57  # "CRAW": one number for every machine that shares the database

Name = tuple[str, str]


@lru_cache(maxsize=1)
def known_migrations() -> frozenset[Name]:
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)


def applied_migrations() -> set[Name]:
    return set(MigrationRecorder(connection).applied_migrations())


def pending_migrations() -> list[Name]:
    return sorted(known_migrations() - applied_migrations())


def unknown_migrations() -> list[Name]:
    """Applied ones of our apps that this code does not have: a newer version made them."""
    ours = {app for app, _ in known_migrations()}
    return sorted(name for name in applied_migrations() - known_migrations() if name[0] in ours)


def apply_migrations() -> None:
    call_command("migrate", verbosity=0, interactive=False)


@contextmanager
def setup_lock() -> Iterator[None]:
    """Held by the one process that migrates and creates the first admin."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [SETUP_LOCK])
            try:
                yield
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [SETUP_LOCK])
        return
    with (settings.CRAWLSPACE.home / "setup.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
