"""Long polls: requests that wait for a job to turn up.

A waiting request holds a thread of the server, so at most half of them may wait; further requests are answered at once.
It holds no database connection. One thread a process looks twice a second whether anything is pending, however many
requests wait, and only while some do.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from crawler.bots import queries

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5


class Waiting:
    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.waiters = 0
        self.round = 0
        self.looking = False
        self.is_over = False

    @contextmanager
    def place(self) -> Iterator[bool]:
        """True when there is room to wait."""
        with self.changed:
            admitted = not self.is_over and self.waiters < max(1, settings.CRAWLSPACE.server_threads // 2)
            self.waiters += admitted
        try:
            yield admitted
        finally:
            with self.changed:
                self.waiters -= admitted
                self.changed.notify_all()

    def until_woken(self, seconds: float) -> None:
        """Until jobs may be there, or the time is over."""
        with self.changed:
            seen = self.round
            if not self.looking:
                self.looking = True
                threading.Thread(target=self._look, name="pending-jobs-watch", daemon=True).start()
            self.changed.wait_for(lambda: self.round != seen, seconds)

    def wake(self) -> None:
        with self.changed:
            self.round += 1
            self.changed.notify_all()

    def end(self) -> None:
        """The server stops: whoever waits is answered now, and nobody waits any more."""
        with self.changed:
            self.is_over = True
        self.wake()

    def _look(self) -> None:
        try:
            while self._is_wanted():
                if self._is_anything_pending():
                    self.wake()
        finally:
            connection.close()

    def _is_wanted(self) -> bool:
        """After the time between two looks: whether anybody still waits."""
        with self.changed:
            self.changed.wait_for(lambda: not self.waiters, LOOK_SECONDS)
            self.looking = self.waiters > 0
            return self.looking

    def _is_anything_pending(self) -> bool:
        try:
            return queries.is_anything_pending()
        except (DatabaseError, InterfaceError) as error:
            log.warning("cannot look for pending jobs", extra={"error": str(error)})
            connection.close()
            return False


WAITING = Waiting()


def wake() -> None:
    """Jobs were made pending by this process; the others find out by themselves."""
    WAITING.wake()
