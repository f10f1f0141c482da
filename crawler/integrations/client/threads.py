"""The plain loop: the caller's thread keeps the desk; workers and messengers are threads that report to its mailbox.

Nothing but the caller's thread touches the desk, so there are no locks.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from crawler.integrations.client.attempts import Answered, Handler, Replied, ask, attempt, deliver
from crawler.integrations.client.desk import Desk
from crawler.integrations.client.errands import Wire
from crawler.integrations.client.holding import Begin, Summary
from crawler.integrations.client.telling import Teller

MESSENGERS = 4  # one for each of pull, submit, heartbeat, release


class Threads:
    def __init__(self, desk: Desk, wire: Wire, handle: Handler, teller: Teller) -> None:
        self.desk, self.teller = desk, teller
        self.mailbox: queue.SimpleQueue[Answered | Replied | None] = queue.SimpleQueue()
        self.jobs = self._crew(desk.options.workers, "bot-worker", lambda held: attempt(handle, held))
        self.errands = self._crew(MESSENGERS, "bot-messenger", lambda send: ask(wire, send))

    def stop(self) -> None:
        """From any thread, or from a signal's handler."""
        self.mailbox.put(None)

    def run(self) -> Summary:
        """Whatever ends it, jobs are given back: also when `on_event` raises."""
        began_at = time.monotonic()
        try:
            self._until_over()
        except BaseException:
            self.teller.hush()
            self.desk.stop_at_once(time.monotonic())
            self._until_over()
            raise
        finally:
            self._dismiss()
        self.desk.summary.seconds = time.monotonic() - began_at
        return self.desk.summary

    def _until_over(self) -> None:
        while not self.desk.is_over:
            self._step()
        self.teller.tell(self.desk)

    def _step(self) -> None:
        for command in self.desk.due(time.monotonic()):
            (self.jobs if isinstance(command, Begin) else self.errands).put(command)
        self.teller.tell(self.desk)
        if self.desk.is_over:
            return
        try:
            self._take(self.mailbox.get(timeout=self.desk.seconds_to_wait(time.monotonic())))
            while True:
                self._take(self.mailbox.get_nowait())
        except queue.Empty:
            pass

    def _take(self, message: Answered | Replied | None) -> None:
        deliver(self.desk, message, time.monotonic())

    def _crew(self, count: int, name: str, work: Callable[[Any], Answered | Replied]) -> queue.SimpleQueue[Any]:
        """Threads that do not keep the program from ending: a handler may hang for ever."""
        tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def labour() -> None:
            while (task := tasks.get()) is not None:
                self.mailbox.put(work(task.held if isinstance(task, Begin) else task))

        for number in range(count):
            threading.Thread(target=labour, name=f"{name}-{number}", daemon=True).start()
        return tasks

    def _dismiss(self) -> None:
        for tasks, count in ((self.jobs, self.desk.options.workers), (self.errands, MESSENGERS)):
            for _ in range(count):
                tasks.put(None)
