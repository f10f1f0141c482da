"""Answers that come together are written together: one statement and one commit for all of them.

Nobody waits for company. Who comes while nobody is writing writes at once; who comes meanwhile waits for that to be
ready, and then the first of those who wait writes for all. What each gets is its own: rows that the database refuses
harm only the request that brought them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, OperationalError

Row = tuple[Any, ...]
Write = Callable[[Sequence[Row]], list[Row]]
MOST_ROWS = 500
# One writes at a time: the longer it takes, the more the next one writes at once. A writer that takes very long may be
# waiting for somebody's lock, and must not hold up everybody.
MOST_WRITERS = 4
SLOW_SECONDS = 0.1


class Share:
    """One request's rows; what it waits for is an answer, or a batch that it has to write."""

    def __init__(self, keys: frozenset[UUID], rows: Sequence[Row]) -> None:
        self.keys, self.rows = keys, rows
        self.batch: list[Share] = []
        self.answer: list[Row] = []
        self.error: BaseException | None = None
        self.ready = threading.Lock()
        self.ready.acquire()

    def lead(self, batch: list[Share]) -> None:
        self.batch = batch
        self.ready.release()


class Together:
    def __init__(self, write: Write, clock: Callable[[], float] = time.monotonic) -> None:
        """`write` gives a row for each row that it gets, in the same order."""
        self._write, self._clock = write, clock
        self._lock = threading.Lock()
        self._queue: list[Share] = []
        self._writers = 0
        self._began_at = 0.0

    def write(self, keys: frozenset[UUID], rows: Sequence[Row]) -> list[Row]:
        """What `write` gives for these rows. Rows with a common key are never written by one statement."""
        mine = Share(keys, rows)
        with self._lock:
            self._queue.append(mine)
            batch = self._begin() if self._may_begin() else []
        if batch:
            batch[0].lead(batch)
        mine.ready.acquire()
        if mine.batch:
            self._lead(mine.batch)
        if mine.error:
            raise mine.error
        return mine.answer

    def _may_begin(self) -> bool:
        is_slow = self._clock() > self._began_at + SLOW_SECONDS
        return not self._writers or (is_slow and self._writers < MOST_WRITERS)

    def _begin(self) -> list[Share]:
        self._writers += 1
        return self._next()

    def _lead(self, batch: list[Share]) -> None:
        try:
            self._settle(batch)
        except BaseException as error:  # noqa: BLE001 - whoever waits is told, whatever it was
            for share in batch:
                share.error = error
        finally:
            self._hand_over()
            for share in batch[1:]:
                share.ready.release()

    def _hand_over(self) -> None:
        with self._lock:
            batch = self._next()
            if not batch:
                self._writers -= 1
                return
        batch[0].lead(batch)

    def _next(self) -> list[Share]:
        """From the front of the queue; who has a key in common with those before waits for the next turn."""
        self._began_at = self._clock()
        batch: list[Share] = []
        left: list[Share] = []
        keys: set[UUID] = set()
        for share in self._queue:
            fits = len(keys) + len(share.keys) <= MOST_ROWS and keys.isdisjoint(share.keys)
            (batch if fits or not batch else left).append(share)
            keys |= share.keys
        self._queue = left
        return batch

    def _settle(self, batch: list[Share]) -> None:
        try:
            answers = iter(self._write([row for share in batch for row in share.rows]))
        except (OperationalError, InterfaceError):
            raise  # nobody knows what became of it
        except DatabaseError:
            if len(batch) == 1:
                raise
            self._settle_one_by_one(batch)
            return
        for share in batch:
            share.answer = [next(answers) for _ in share.rows]

    def _settle_one_by_one(self, batch: list[Share]) -> None:
        for share in batch:
            try:
                share.answer = self._write(share.rows)
            except Exception as error:  # noqa: BLE001 - who brought it is told
                share.error = error
