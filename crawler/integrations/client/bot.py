"""A bot: the loops for who writes one function, the verbs for who has a loop of their own."""

from __future__ import annotations

import os
import random
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from crawler.integrations.client import errands
from crawler.integrations.client.attempts import AsyncHandler, Handler
from crawler.integrations.client.channel import Channel
from crawler.integrations.client.desk import Desk
from crawler.integrations.client.errands import MOST_IN_A_REQUEST, Errand
from crawler.integrations.client.errors import ConfigurationError, Refused, TemporaryError, refusal
from crawler.integrations.client.holding import Event, Options, Summary
from crawler.integrations.client.jobs import Failure, Job, Result, moment
from crawler.integrations.client.signals import stopping
from crawler.integrations.client.telling import Teller
from crawler.integrations.client.threads import Threads
from crawler.integrations.client.wire import Wire

if TYPE_CHECKING:
    from datetime import datetime

DEFAULT_URL = "http://127.0.0.1:8005"
DEFAULT_BOT_ID = "bot-001"


class Stoppable(Protocol):
    def stop(self) -> None: ...


class Receipt(NamedTuple):
    """What became of a job: done with a result, pending for another attempt, or failed."""

    job_id: str
    status: str
    result_id: str | None = None
    retry_count: int | None = None
    policy_next_run: datetime | None = None


class Locks(NamedTuple):
    kept: list[Job]  # with their new `locked_until`
    lost: list[Job]


class Bot:
    """What is left out comes from the environment: CRAWLER_URL, BOT_ID, BOT_API_TOKEN.

    The verbs repeat a request that got no answer for up to `patience_seconds`; a submit, a release and a pull that does
    not wait have their effect once, however often they are sent. For many threads; close it, or use it in `with`.
    """

    def __init__(
        self,
        url: str | None = None,
        bot_id: str | None = None,
        api_token: str | None = None,
        *,
        patience_seconds: float = 60.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.url = url or os.environ.get("CRAWLER_URL") or DEFAULT_URL
        self.bot_id = bot_id or os.environ.get("BOT_ID") or DEFAULT_BOT_ID
        token = api_token or os.environ.get("BOT_API_TOKEN")
        if not token:
            raise ConfigurationError("api_token: none given; pass the bot's token or set BOT_API_TOKEN")
        self.patience_seconds = patience_seconds
        self._wire = Wire(self.url, token, tls)
        self._loops: list[Stoppable] = []

    def __repr__(self) -> str:
        return f"Bot(url={self.url!r}, bot_id={self.bot_id!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept open. The bot may be used again."""
        self._wire.close()

    # Loops

    def run(
        self,
        handle: Handler,
        workers: int = 8,
        *,
        domain: str | None = None,
        until_idle: bool = False,
        max_jobs: int = 100,
        wait_seconds: float = 5.0,
        grace_seconds: float = 20.0,
        on_event: Callable[[Event], None] | None = None,
    ) -> Summary:
        """Gives jobs to `handle`, up to `workers` at a time in threads, until SIGTERM, SIGINT or `stop()`; with
        `until_idle` until there is nothing to be had. Raises AuthenticationError when the server does not know us."""
        options = Options(workers, domain, until_idle, max_jobs, wait_seconds, grace_seconds)
        loop = Threads(self._desk(options), self._wire, handle, Teller(on_event))
        with stopping(loop.stop):
            self._loops.append(loop)
            try:
                return self._counted(loop.run(), loop.desk)
            finally:
                self._loops.remove(loop)
                self.close()

    async def run_async(
        self,
        handle: AsyncHandler,
        workers: int = 100,
        *,
        domain: str | None = None,
        until_idle: bool = False,
        max_jobs: int = 100,
        wait_seconds: float = 5.0,
        grace_seconds: float = 20.0,
        on_event: Callable[[Event], None] | None = None,
    ) -> Summary:
        """`run` for an `async def handle`, in the running event loop."""
        from crawler.integrations.client.tasks import Tasks  # asyncio costs a plain bot more than the rest of us

        options = Options(workers, domain, until_idle, max_jobs, wait_seconds, grace_seconds)
        loop = Tasks(self._desk(options), self._wire, handle, Teller(on_event))
        with stopping(loop.stop):
            self._loops.append(loop)
            try:
                return self._counted(await loop.run(), loop.desk)
            finally:
                self._loops.remove(loop)
                self.close()

    def stop(self) -> None:
        """Ends the loops of this bot as SIGTERM would; a second time at once. From any thread."""
        for loop in list(self._loops):
            loop.stop()

    def _desk(self, options: Options) -> Desk:
        if options.workers < 1 or options.max_jobs < 1:
            raise ConfigurationError("workers and max_jobs: at least 1")
        return Desk(self.bot_id, options)

    def _counted(self, summary: Summary, desk: Desk) -> Summary:
        if desk.fatal:
            raise desk.fatal
        return summary

    # Verbs

    def pull(self, max_jobs: int = 10, wait_seconds: float = 0, domain: str | None = None) -> list[Job]:
        """Jobs that are ours now. With `wait_seconds` (up to 30) the server waits for one to turn up."""
        data = self._ask(errands.pull(self.bot_id, max_jobs, wait_seconds, domain))
        return [Job.from_json(one) for one in data["jobs"]]

    def submit(self, job: Job, answer: Result | Failure) -> Receipt:
        """Raises LockExpired, JobNotLocked, NotAssigned, JobNotFound or InvalidRequest."""
        return _receipt(self._ask(errands.submit(self.bot_id, errands.encode(job, answer))))

    def submit_batch(self, answers: Iterable[tuple[Job, Result | Failure]]) -> list[Receipt | Refused]:
        """Any number of answers, in their order. What is refused is returned, not raised, and spoils no other."""
        encoded = [errands.encode(job, answer) for job, answer in answers]
        lines = [
            line for part in _parts(encoded) for line in self._ask(errands.submit_batch(self.bot_id, part))["results"]
        ]
        return [_receipt(line["data"]) if line["success"] else refusal(line["status_code"], line) for line in lines]

    def heartbeat(self, jobs: Sequence[Job]) -> Locks:
        """Gives the jobs' locks their whole time again."""
        until: dict[str, str] = {}
        for part in _parts([job.job_id for job in jobs]):
            data = self._ask(errands.heartbeat(self.bot_id, part))
            until |= {one["job_id"]: one["locked_until"] for one in data["extended"]}
        kept = [replace(job, locked_until=moment(until[job.job_id])) for job in jobs if job.job_id in until]
        return Locks(kept, [job for job in jobs if job.job_id not in until])

    def release(self, jobs: Sequence[Job]) -> Locks:
        """Gives jobs back unharmed. `kept` are those that were still ours to give."""
        released: set[str] = set()
        for part in _parts([job.job_id for job in jobs]):
            released |= set(self._ask(errands.release(self.bot_id, part))["released"])
        return Locks(
            [job for job in jobs if job.job_id in released], [job for job in jobs if job.job_id not in released]
        )

    def _ask(self, errand: Errand) -> dict[str, Any]:
        """The answer. An unanswered errand is sent again, with growing pauses, while there is patience."""
        ends_at = time.monotonic() + self.patience_seconds
        channel = Channel(errand.path)
        while True:
            try:
                return errand.run(self._wire)
            except TemporaryError as error:
                pause = channel.again(time.monotonic(), error.retry_after_seconds, random.random)
                if time.monotonic() + pause > ends_at:
                    raise
                time.sleep(pause)


def _parts(items: list[str]) -> Iterable[list[str]]:
    """In requests of a size that the server takes."""
    part: list[str] = []
    size = 0
    for item in items:
        if part and (len(part) >= MOST_IN_A_REQUEST or size + len(item) > errands.MOST_BYTES_IN_A_REQUEST):
            yield part
            part, size = [], 0
        part.append(item)
        size += len(item)
    if part:
        yield part


def _receipt(data: dict[str, Any]) -> Receipt:
    next_run = data.get("policy_next_run")
    return Receipt(
        job_id=data["job_id"],
        status=data["status"],
        result_id=data.get("result_id"),
        retry_count=data.get("retry_count"),
        policy_next_run=moment(next_run) if next_run else None,
    )
