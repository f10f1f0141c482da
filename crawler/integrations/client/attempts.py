"""Running a bot author's function: whatever comes of it is an answer."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from crawler.integrations.client import errands
from crawler.integrations.client.channel import Channel
from crawler.integrations.client.desk import Desk
from crawler.integrations.client.errors import BotError, InvalidResult
from crawler.integrations.client.holding import Held, Send
from crawler.integrations.client.jobs import Answer, Failure, GiveBack, Job, Result

log = logging.getLogger("crawler.bot")

Handler = Callable[[Job], Result | Failure]
AsyncHandler = Callable[[Job], Awaitable[Result | Failure]]


class Answered(NamedTuple):
    """A worker is done with a job."""

    held: Held
    answer: Answer
    encoded: str


class Replied(NamedTuple):
    """The server has answered, or could not."""

    channel: Channel
    outcome: dict[str, Any] | BotError


def attempt(handle: Handler, held: Held) -> Answered:
    try:
        answer = checked(handle(held.job))
    except BaseException as error:  # noqa: BLE001 - whatever a handler does, even sys.exit(), the job has an answer
        answer = excused(held.job, error)
    return answered(held, answer)


def checked(answer: Any) -> Answer:
    if not isinstance(answer, Result | Failure):
        raise InvalidResult(f"handle() must return a Result or a Failure, not {answer!r}")
    return answer


def excused(job: Job, error: BaseException) -> Answer:
    if isinstance(error, GiveBack):
        return error
    log.warning("%s: handle() raised %s", job.url, type(error).__name__, exc_info=error)
    return Failure.of(error)


def answered(held: Held, answer: Answer) -> Answered:
    return Answered(held, answer, errands.encode(held.job, answer))


def deliver(desk: Desk, message: Answered | Replied | None, now: float) -> None:
    """To the desk; None is the wish to stop."""
    if message is None:
        desk.stop(now)
    elif isinstance(message, Replied):
        desk.replied(message.channel, message.outcome, now)
    else:
        desk.answered(*message, now)


def ask(wire: errands.Wire, send: Send) -> Replied:
    try:
        return Replied(send.channel, send.errand.run(wire))
    except BotError as error:
        return Replied(send.channel, error)
