"""From an order and a place to a crawl that can be worked on. Loads Django; nothing before this needs it."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.cli.crawling.order import Order
from crawler.cli.crawling.place import CANNOT_WRITE, Lock, lock, move_in
from crawler.cli.problems import fail

if TYPE_CHECKING:
    from crawler.crawls.models import Crawl


def open_place(out: Path | None, order: Order) -> tuple[Path, Lock]:
    """One crawl at a time in a folder of its own; in the platform's database, one command at a time for one crawl."""
    home = move_in(out)
    if out is not None:
        return home, lock(home / "crawl.lock", f"{out} is in use")
    return home, lock(home / "crawls" / f"{order.identity}.lock", "this crawl is worked on already")


def load_django() -> None:
    """Django up without pages and API, the database reachable, not newer than us, and migrated."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.project.crawl_settings"
    logging.raiseExceptions = False  # of a full disk the display tells
    import django

    django.setup()
    from django.conf import settings
    from django.db import DatabaseError

    from crawler.project import startup

    try:
        (settings.CRAWLSPACE.home / "logs").mkdir(parents=True, exist_ok=True)
        startup.check_database(settings.CRAWLSPACE)
        _migrate()
    except OSError as error:
        fail(f"cannot write to {settings.CRAWLSPACE.home}: {error.strerror}", CANNOT_WRITE)
    except startup.StartupProblem as problem:
        fail(str(problem), CANNOT_WRITE)
    except DatabaseError as error:
        fail(f"cannot use the database {database()}: {startup.first_line(error)}", CANNOT_WRITE)


def _migrate() -> None:
    from crawler.project.migrations import apply_migrations, pending_migrations, setup_lock

    if pending_migrations():
        with setup_lock():
            apply_migrations()


def find_crawl(order: Order) -> Crawl:
    from crawler.crawls.resuming import find_or_create

    return find_or_create(order.name, order.seeds, order.config(), order.filters())


def database() -> str:
    """A path, or the address of a server without its password."""
    from django.conf import settings

    config = settings.CRAWLSPACE.database_url
    return str(config.name if config.vendor == "sqlite" else config)


def archive() -> str:
    """A path, or the address of a store."""
    from django.conf import settings

    from crawler.archive.opening import folder_of

    return str(folder_of(settings.CRAWLSPACE.archive_url) or settings.CRAWLSPACE.archive_url)
