"""The life of a process: signs in, beats in a thread of its own, stops on a signal, signs out."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection

from crawler.processes import registry

log = logging.getLogger(__name__)


@contextmanager
def signed_in(kind: str, *also: Callable[[], None]) -> Iterator[UUID]:
    """Beat until the block ends. `also` is called with every beat, e.g. to renew a lease."""
    process_id = registry.sign_in(kind)
    log.info("%s started", kind, extra={"pid": os.getpid()})
    ended = threading.Event()
    thread = threading.Thread(target=_beat, args=(process_id, ended, also), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield process_id
    finally:
        ended.set()
        thread.join(timeout=2)
        _tolerate(lambda: registry.sign_out(process_id))
        log.info("%s stopped", kind, extra={"pid": os.getpid()})


def _beat(process_id: UUID, ended: threading.Event, also: tuple[Callable[[], None], ...]) -> None:
    try:
        while not ended.wait(registry.BEAT_SECONDS):
            for step in (lambda: registry.beat(process_id), *also):
                _tolerate(step)
    finally:
        connection.close()


def _tolerate(step: Callable[[], None]) -> None:
    """A database that is away for a while must not end the process. A connection that died meanwhile is replaced."""
    for attempt in ("old connection", "new connection"):
        try:
            return step()
        except (DatabaseError, InterfaceError) as error:
            log.warning("the database cannot be reached", extra={"error": str(error), "attempt": attempt})
            connection.close()


def stop_on_signals() -> threading.Event:
    """An event that SIGINT and SIGTERM set."""
    stop = threading.Event()

    def asked(number: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, asked)
    signal.signal(signal.SIGINT, asked)
    return stop


def stop_with_parent() -> None:
    """Send ourselves SIGTERM when the supervisor is gone, however it went: its end of our stdin closes."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
