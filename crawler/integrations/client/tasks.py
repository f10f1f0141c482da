"""The async loop: the same desk, with a task for each job. Requests to the server run in threads, handlers never do."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from crawler.integrations.client.attempts import (
    Answered,
    AsyncHandler,
    Replied,
    answered,
    ask,
    checked,
    deliver,
    excused,
)
from crawler.integrations.client.desk import Desk
from crawler.integrations.client.errands import Wire
from crawler.integrations.client.holding import Begin, Command, Held, Summary
from crawler.integrations.client.telling import Teller
from crawler.integrations.client.threads import MESSENGERS


class Tasks:
    """Made and run within one running loop."""

    def __init__(self, desk: Desk, wire: Wire, handle: AsyncHandler, teller: Teller) -> None:
        self.desk, self.wire, self.handle, self.teller = desk, wire, handle, teller
        self.loop = asyncio.get_running_loop()
        self.mailbox: asyncio.Queue[Answered | Replied | None] = asyncio.Queue()
        self.messengers = ThreadPoolExecutor(MESSENGERS, "bot-messenger")
        self.running: set[asyncio.Task[None]] = set()

    def stop(self) -> None:
        """From any thread, or from a signal's handler."""
        self.loop.call_soon_threadsafe(self.mailbox.put_nowait, None)

    async def run(self) -> Summary:
        """Whatever ends it, jobs are given back: also when our task is cancelled."""
        began_at = time.monotonic()
        try:
            await self._until_over()
        except BaseException:
            self.teller.hush()
            self.desk.stop_at_once(time.monotonic())
            await self._until_over()
            raise
        finally:
            await self._dismiss()
        self.desk.summary.seconds = time.monotonic() - began_at
        return self.desk.summary

    async def _until_over(self) -> None:
        while not self.desk.is_over:
            await self._step()
        self.teller.tell(self.desk)

    async def _step(self) -> None:
        for command in self.desk.due(time.monotonic()):
            task = self.loop.create_task(self._do(command))
            self.running.add(task)
            task.add_done_callback(self.running.discard)
        self.teller.tell(self.desk)
        if self.desk.is_over:
            return
        try:
            wait = self.desk.seconds_to_wait(time.monotonic())
            self._take(await asyncio.wait_for(self.mailbox.get(), wait))
            while not self.mailbox.empty():
                self._take(self.mailbox.get_nowait())
        except TimeoutError:
            pass

    async def _do(self, command: Command) -> None:
        if isinstance(command, Begin):
            message: Answered | Replied = await self._attempt(command.held)
        else:
            message = await self.loop.run_in_executor(self.messengers, ask, self.wire, command)
        self.mailbox.put_nowait(message)

    async def _attempt(self, held: Held) -> Answered:
        try:
            answer = checked(await self.handle(held.job))
        except asyncio.CancelledError as error:
            if self.desk.is_over:
                raise
            answer = excused(held.job, error)  # something within the handler was cancelled
        except Exception as error:  # noqa: BLE001 - whatever a handler does, the job has an answer
            answer = excused(held.job, error)
        return answered(held, answer)

    def _take(self, message: Answered | Replied | None) -> None:
        deliver(self.desk, message, time.monotonic())

    async def _dismiss(self) -> None:
        """Handlers of jobs that were given back have nobody to report to."""
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)
        self.messengers.shutdown(wait=False, cancel_futures=True)
