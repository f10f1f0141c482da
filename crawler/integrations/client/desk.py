"""The bot's desk: what is held, what to ask the server next. It decides and does nothing; drivers do.

    driver: for command in desk.due(now): start it          Begin(job) → a worker, Send(errand) → the server
            wait desk.seconds_to_wait(now), or for news
            desk.answered(…) when a worker is done, desk.replied(…) when the server has answered, desk.stop(…)

Every pulled job leaves the desk once: done, failed, released or lost. What the server has not confirmed stays held, its
lock is kept alive, and the same request is sent again until it is answered.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable
from math import inf
from typing import Any

from crawler.integrations.client import errands
from crawler.integrations.client.channel import Channel
from crawler.integrations.client.errands import MOST_BYTES_IN_A_REQUEST, MOST_IN_A_REQUEST
from crawler.integrations.client.errors import (
    LOST,
    AuthenticationError,
    BotError,
    InvalidRequest,
    Refused,
    TemporaryError,
    TooLarge,
    Unreachable,
    refusal,
)
from crawler.integrations.client.holding import Begin, Command, Event, Held, Options, Send, Stage, Summary
from crawler.integrations.client.jobs import Answer, Failure, GiveBack, Job, Result
from crawler.integrations.client.pace import Pace

FLUSH_RESULTS, FLUSH_SECONDS = 100, 0.5
MOST_UNSENT = 1_000  # with so many answers to bring home, no new work
BREATH_SECONDS = 1.0  # between empty pulls that did not wait
FAREWELL_SECONDS = 10.0  # to tell the server what was done, after the grace is over
LONGEST_BRAKE_SECONDS = 15.0
LONGEST_SLEEP_SECONDS = 0.5


class Desk:
    def __init__(self, bot_id: str, options: Options, jitter: Callable[[], float] = random.random) -> None:
        self.bot_id, self.options, self.jitter = bot_id, options, jitter
        self.pace = Pace(options.workers, options.max_jobs)
        self.held: dict[tuple[str, int | None], Held] = {}  # by id and fence
        self.newest: dict[str, Held] = {}
        self.waiting: deque[Held] = deque()
        self.outbox: deque[Held] = deque()
        self.leaving: deque[Held] = deque()
        self.busy = 0  # workers at work, also at jobs that are lost
        self.pull, self.submit = Channel("pull"), Channel("submit")
        self.beat, self.release = Channel("heartbeat"), Channel("release")
        self.next_beat_at = inf
        self.most_in_a_batch = MOST_IN_A_REQUEST
        self.last_pull_was_empty = False
        self.given_back: set[str] = set()
        self.given_back_in_a_row = 0
        self.grace_ends_at = inf
        self.is_forced = False
        self.has_worked = False
        self.is_in_trouble = False
        self.fatal: BotError | None = None
        self.events: list[Event] = []
        self.summary = Summary()

    # What to do

    def due(self, now: float) -> list[Command]:
        """Commands to start now. Each is given out once."""
        self._mind_the_end(now)
        if self.is_over:
            return []
        commands: list[Command] = list(self._begin(now))
        for channel, fill in self._channels():
            if channel.is_free(now):
                fill(now)
            if errand := channel.send(now):
                commands.append(Send(channel, errand))
        return commands

    def seconds_to_wait(self, now: float) -> float:
        """Until `due` may have something new. Never for long: a signal that comes in the instant before a thread falls
        asleep does not wake it."""
        moments = [channel.not_before for channel, _ in self._channels() if channel.errand and not channel.is_out]
        if not self.pull.errand and self._jobs_to_pull():
            moments.append(self.pull.not_before)
        if not self.submit.errand and self.outbox:
            moments.append(max(self.submit.not_before, self.outbox[0].since + FLUSH_SECONDS))
        if not self.beat.errand and self.held:
            moments.append(max(self.beat.not_before, self.next_beat_at))
        moments += [moment for moment in (self.grace_ends_at, self.farewell_ends_at) if moment > now]
        return max(0.0, min([*moments, now + LONGEST_SLEEP_SECONDS]) - now)

    @property
    def is_stopping(self) -> bool:
        return self.grace_ends_at < inf

    @property
    def farewell_ends_at(self) -> float:
        return self.grace_ends_at + FAREWELL_SECONDS

    @property
    def is_over(self) -> bool:
        if self.fatal:
            return True
        return self.is_stopping and not self.held and (self.is_forced or self.pull.errand is None)

    def _channels(self) -> Iterable[tuple[Channel, Callable[[float], None]]]:
        return (
            (self.submit, self._fill_submit),
            (self.release, self._fill_release),
            (self.beat, self._fill_beat),
            (self.pull, self._fill_pull),
        )

    def _begin(self, now: float) -> Iterable[Command]:
        while self.waiting and self.busy < self.options.workers:
            held = self.waiting.popleft()
            held.stage, held.since = Stage.RUNNING, now
            self.busy += 1
            yield Begin(held)

    def _fill_pull(self, now: float) -> None:
        count = self._jobs_to_pull()
        if count:
            waits = self.last_pull_was_empty and not self.options.until_idle
            seconds = self.options.wait_seconds if waits else 0
            was_idle = not self.held
            self.pull.put(errands.pull(self.bot_id, count, seconds, self.options.domain), was_idle)

    def _jobs_to_pull(self) -> int:
        if self.is_stopping or len(self.outbox) >= MOST_UNSENT:
            return 0
        return self.pace.jobs_to_pull(self.busy, len(self.waiting))

    def _fill_submit(self, now: float) -> None:
        if not self.outbox:
            return
        idle = not self.busy and not self.waiting
        late = now >= self.outbox[0].since + FLUSH_SECONDS
        if idle or late or self.is_stopping or len(self.outbox) >= FLUSH_RESULTS:
            batch = self._take_batch()
            self.submit.put(errands.submit_batch(self.bot_id, [held.encoded for held in batch]), batch)

    def _take_batch(self) -> list[Held]:
        batch, size = [self.outbox.popleft()], 0
        while self.outbox and len(batch) < self.most_in_a_batch:
            size += len(batch[-1].encoded)
            if size + len(self.outbox[0].encoded) > MOST_BYTES_IN_A_REQUEST:
                break
            batch.append(self.outbox.popleft())
        return batch

    def _fill_release(self, now: float) -> None:
        if self.leaving:
            batch = [self.leaving.popleft() for _ in range(min(len(self.leaving), MOST_IN_A_REQUEST))]
            self.release.put(errands.release(self.bot_id, [held.job.job_id for held in batch]), batch)

    def _fill_beat(self, now: float) -> None:
        if now < self.next_beat_at:
            return
        self._plan_beat()
        if now < self.next_beat_at:
            return
        near = sorted((held for held in self.held.values() if held.beat_early_at <= now), key=lambda one: one.beat_at)
        batch = near[:MOST_IN_A_REQUEST]
        self.beat.put(errands.heartbeat(self.bot_id, [held.job.job_id for held in batch]), batch)

    def _plan_beat(self) -> None:
        self.next_beat_at = min((held.beat_at for held in self.held.values()), default=inf)

    # What happened

    def answered(self, held: Held, answer: Answer, encoded: str, now: float) -> None:
        """A worker is done. What it says about a job that is not ours any more is passed over."""
        self.busy -= 1
        self.pace.learn(now - held.since)
        if held.stage is not Stage.RUNNING:
            return
        if isinstance(answer, GiveBack):
            self._brake(held, now)
            self._leave([held])
        else:
            self.given_back_in_a_row = 0
            held.stage, held.since, held.answer, held.encoded = Stage.ANSWERED, now, answer, encoded
            self.outbox.append(held)

    def _brake(self, held: Held, now: float) -> None:
        """What is given back is there to be pulled again at once: slow down."""
        if self.options.until_idle:
            self.given_back.add(held.job.job_id)
        pause = min(LONGEST_BRAKE_SECONDS, 0.25 * 2 ** min(self.given_back_in_a_row, 10))
        self.given_back_in_a_row += 1
        self.pull.not_before = max(self.pull.not_before, now + pause)

    def replied(self, channel: Channel, outcome: dict[str, Any] | BotError, now: float) -> None:
        """The server's answer to an errand, or why there is none."""
        if not isinstance(outcome, BotError):
            self._recovered()
            self._settle(channel, outcome, now)
        elif self._is_fatal(channel, outcome):
            self.fatal = outcome
            self._lose(list(self.held.values()), "the server does not accept us any more")
        elif channel is self.submit and isinstance(outcome, InvalidRequest | TooLarge):
            self._split(outcome)
        else:
            self._try_again(channel, outcome, now)
            self._drop_pull_if_stopping()

    def _is_fatal(self, channel: Channel, error: BotError) -> bool:
        if isinstance(error, AuthenticationError):
            return True
        return isinstance(error, Refused) and channel is self.pull and not self.has_worked

    def _drop_pull_if_stopping(self) -> None:
        if self.is_stopping and not self.pull.is_out and not self.pull.is_worth_repeating:
            self.pull.clear()

    def _try_again(self, channel: Channel, error: BotError, now: float) -> None:
        channel.may_have_arrived |= isinstance(error, Unreachable) and error.was_sent
        wanted = error.retry_after_seconds if isinstance(error, TemporaryError) else BREATH_SECONDS
        pause = channel.again(now, wanted, self.jitter)
        if not self.is_in_trouble:
            self.is_in_trouble = True
            self._tell("trouble", f"{channel.name}: {error}; trying again in {pause:.1f} s")

    def _recovered(self) -> None:
        self.has_worked = True
        if self.is_in_trouble:
            self.is_in_trouble = False
            self._tell("recovered")

    def _settle(self, channel: Channel, data: dict[str, Any], now: float) -> None:
        first_sent_at, sent_at, waited_for = channel.first_sent_at, channel.sent_at, channel.errand
        about = channel.clear()
        if channel is self.pull:
            waits_seconds = waited_for.waits_seconds if waited_for else 0
            self._take_jobs(data["jobs"], first_sent_at, now - sent_at < waits_seconds / 2, about, now)
        elif channel is self.submit:
            self._take_lines(about, data["results"])
        elif channel is self.beat:
            self._take_locks(about, {one["job_id"] for one in data["extended"]}, sent_at)
        else:
            self._take_released(about, set(data["released"]))
        if self.options.until_idle and not self.held:
            self.pull.hurry()

    def _take_jobs(
        self, jobs: list[dict[str, Any]], sent_at: float, cut_short: bool, was_idle: bool, now: float
    ) -> None:
        fresh = [self._hold(Job.from_json(one), sent_at) for one in jobs]
        self.summary.pulled += len(fresh)
        if fresh:
            self._tell("pulled", f"{len(fresh)} jobs")
        unwanted = fresh if self.is_stopping else [held for held in fresh if self._was_given_back(held)]
        self._leave(unwanted)
        self.waiting.extend(held for held in fresh if held.stage is Stage.WAITING)
        self.last_pull_was_empty = len(unwanted) == len(fresh)
        if self.last_pull_was_empty and self.options.until_idle:
            self._look_once_more(was_idle, now)
        elif self.last_pull_was_empty and cut_short:
            self.pull.not_before = now + BREATH_SECONDS

    def _hold(self, job: Job, sent_at: float) -> Held:
        """From the moment it was asked for: the lock began no earlier."""
        before = self.newest.get(job.job_id)
        if before and not self._is_being_told(before):
            self._lose([before], "its lock was over, and it was pulled again")
        held = Held(job, sent_at + job.timeout_seconds)
        self.held[job.job_id, job.fence] = self.newest[job.job_id] = held
        self.pace.lock_seconds = job.timeout_seconds
        self.next_beat_at = min(self.next_beat_at, held.beat_at)
        return held

    def _is_being_told(self, held: Held) -> bool:
        """The server knows already, its answer is on the way."""
        return any(held in (channel.about or ()) for channel in (self.submit, self.release))

    def _was_given_back(self, held: Held) -> bool:
        return held.job.job_id in self.given_back

    def _look_once_more(self, was_idle: bool, now: float) -> None:
        """Idle is who asked with empty hands and got nothing; a job in work may still come back as pending."""
        if was_idle:
            self.stop(now)
        else:
            self.pull.not_before = now + BREATH_SECONDS / 2

    def _take_lines(self, batch: list[Held], lines: list[dict[str, Any]]) -> None:
        self.most_in_a_batch = min(MOST_IN_A_REQUEST, self.most_in_a_batch * 2)
        for held, line in zip(batch, lines, strict=True):
            if line["success"]:
                is_done = line["data"]["status"] == "done"
                self._gone(held, "done" if is_done else "failed", self._reason(held))
            else:
                self._spoiled(held, refusal(line["status_code"], line))

    def _reason(self, held: Held) -> str:
        return held.answer.reason if isinstance(held.answer, Failure) else ""

    def _spoiled(self, held: Held, error: Refused) -> None:
        """A result the server does not take is a failure it should know of."""
        if isinstance(error, LOST) or not isinstance(held.answer, Result):
            self._lose([held], str(error))
            return
        held.answer = Failure(f"the result was refused: {error}")
        held.encoded = errands.encode(held.job, held.answer)
        self.outbox.append(held)

    def _split(self, error: Refused) -> None:
        """The server takes the batch as a whole or not at all: find out whose fault it is."""
        batch: list[Held] = self.submit.clear()
        if len(batch) == 1:
            self._spoiled(batch[0], error)
            return
        self.most_in_a_batch = len(batch) // 2
        self.outbox.extendleft(reversed(batch))

    def _take_locks(self, batch: list[Held], extended: set[str], sent_at: float) -> None:
        for held in batch:
            if held.job.job_id in extended:
                held.lock_ends_at = sent_at + held.job.timeout_seconds
            elif held.stage in (Stage.WAITING, Stage.RUNNING):  # else its answer decides
                self._lose([held], "its lock is over")
        self._plan_beat()

    def _take_released(self, batch: list[Held], released: set[str]) -> None:
        for held in batch:
            if held.job.job_id in released:
                self._gone(held, "released")
            else:
                self._lose([held], "its lock was over when it was given back")

    # The end

    def stop(self, now: float) -> None:
        """Pull no more, let workers finish for the grace, give the rest back. A second time: let nobody finish."""
        if self.is_forced:
            return
        self.is_forced = self.is_stopping
        self.grace_ends_at = now if self.is_forced else now + self.options.grace_seconds
        self._leave(list(self.waiting))
        for channel, _ in self._channels():
            channel.hurry()
        self._drop_pull_if_stopping()
        self._tell("stopping", f"{self.busy} in work, {len(self.outbox)} to submit, {len(self.leaving)} to give back")

    def stop_at_once(self, now: float) -> None:
        while not self.is_forced:
            self.stop(now)

    def _mind_the_end(self, now: float) -> None:
        if now >= self.grace_ends_at:
            self._leave([held for held in self.held.values() if held.stage is Stage.RUNNING])
        if now >= self.farewell_ends_at:
            self.is_forced = True
            self._lose(list(self.held.values()), "the server could not be told in time")

    def _leave(self, many: list[Held]) -> None:
        for held in many:
            held.stage = Stage.LEAVING
            self.leaving.append(held)
        self.waiting = deque(held for held in self.waiting if held.stage is Stage.WAITING)

    def _lose(self, many: list[Held], reason: str) -> None:
        for held in many:
            self._gone(held, "lost", reason)
        self.waiting = deque(held for held in self.waiting if held.stage is Stage.WAITING)
        self.outbox = deque(held for held in self.outbox if held.stage is Stage.ANSWERED)
        self.leaving = deque(held for held in self.leaving if held.stage is Stage.LEAVING)

    def _gone(self, held: Held, how: str, reason: str = "") -> None:
        if held.stage is Stage.GONE:
            return
        held.stage = Stage.GONE
        del self.held[held.job.job_id, held.job.fence]
        if self.newest.get(held.job.job_id) is held:
            del self.newest[held.job.job_id]
        setattr(self.summary, how, getattr(self.summary, how) + 1)
        self._tell(how, reason, held.job)

    def _tell(self, kind: str, detail: str = "", job: Job | None = None) -> None:
        self.events.append(Event(kind, detail, job))
