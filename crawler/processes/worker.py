"""The worker process: crawls whatever is due, until it is asked to stop."""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, InterfaceError, connection

from crawler.archive import ArchiveUnavailable
from crawler.crawls.working import work
from crawler.engine.contract import StoreUnavailable
from crawler.engine.limits import Limits
from crawler.processes.heartbeat import signed_in

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0


def run(stop: threading.Event) -> None:
    """A database or an archive that is away is waited for."""
    with signed_in("worker"):
        while not stop.is_set():
            try:
                work(stop.is_set, limits=Limits(shares=True))
            except (StoreUnavailable, ArchiveUnavailable, DatabaseError, InterfaceError) as error:
                log.warning("cannot work now; trying again: %s", error)
                connection.close()
                stop.wait(PATIENCE_SECONDS)
