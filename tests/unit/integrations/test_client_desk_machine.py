"""The desk under any order of answers, failures and ends: each pulled job leaves it once, and the server agrees."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from hypothesis import given, settings, strategies

from crawler.integrations.client import BotError, Failure, GiveBack, Result, ServerError, Unreachable
from crawler.integrations.client.attempts import answered
from crawler.integrations.client.desk import Desk
from crawler.integrations.client.holding import Begin, Event, Held, Options, Send, Stage
from crawler.integrations.client.jobs import Answer
from tests.unit.integrations.server_model import ServerModel

WORKERS = 3
ANSWERS: list[Answer] = [Result(1, "EUR"), Result(1, "EUR"), Result(2, "ZZZ"), Failure("broken"), GiveBack()]
FATES = ["answered", "answered", "answered", "lost", "never sent", "failed"]
ENDS = ("done", "failed", "released", "lost")


class Life:
    """A bot's life as a dice has it. In a calm one no lock ends and nobody is asked to stop."""

    def __init__(self, seed: int, is_calm: bool) -> None:
        self.dice, self.is_calm = random.Random(seed), is_calm
        self.server = ServerModel()
        self.desk = Desk("bot-001", Options(workers=WORKERS, max_jobs=5), jitter=self.dice.random)
        self.running: list[Held] = []
        self.out: list[Send] = []
        self.events: list[Event] = []
        self.was_unsure_of_a_waiting_pull = False

    def live(self, steps: int) -> None:
        for _ in range(steps):
            self.look_what_is_due()
            self.dice.choices([self.work, self.ask, self.wait, self.jobs_turn_up, self.mishap], [5, 8, 3, 1, 0.1])[0]()
            assert all(row.answers.count(True) <= 1 for row in self.server.rows.values())
            assert all(held.stage is not Stage.GONE for held in self.desk.held.values())
            assert self.desk.busy == len(self.running) <= WORKERS

    def look_what_is_due(self) -> None:
        for command in self.desk.due(self.server.now):
            if isinstance(command, Begin):
                self.running.append(command.held)
            else:
                self.out.append(command)
        self.events += self.desk.events
        self.desk.events = []

    def jobs_turn_up(self) -> None:
        self.server.add_jobs(self.dice.randint(1, 6))

    def work(self) -> None:
        if self.running:
            held = self.running.pop(self.dice.randrange(len(self.running)))
            self.desk.answered(*answered(held, self.dice.choice(ANSWERS)), self.server.now)

    def ask(self) -> None:
        if self.out:
            send = self.out.pop(self.dice.randrange(len(self.out)))
            self.desk.replied(send.channel, self.outcome(send, self.dice.choice(FATES)), self.server.now)

    def outcome(self, send: Send, fate: str) -> dict[str, Any] | BotError:
        if fate == "never sent":
            return Unreachable("refused")
        if fate == "failed":
            return ServerError("500")
        reply = self.server.answer(send.errand)
        if fate == "lost":
            self.was_unsure_of_a_waiting_pull |= "wait_seconds" in send.errand.body
            return Unreachable("broken off", was_sent=True)
        return reply

    def wait(self) -> None:
        self.server.now += self.dice.choice([0.1, 0.5, 2.0] if self.is_calm else [0.1, 2.0, 15.0, 40.0])

    def mishap(self) -> None:
        if not self.is_calm:
            self.desk.stop(self.server.now)

    def end(self) -> None:
        """With a server that answers, also when workers hang, the desk comes to its end."""
        self.desk.stop(self.server.now)
        for _ in range(300):
            self.look_what_is_due()
            if self.desk.is_over:
                return
            while self.out:
                send = self.out.pop()
                self.desk.replied(send.channel, self.outcome(send, "answered"), self.server.now)
            self.server.now += self.desk.seconds_to_wait(self.server.now)
        raise AssertionError("it does not end")

    def compare(self) -> None:
        counted = Counter(event.kind for event in self.events if event.kind in ENDS)
        summary = self.desk.summary
        assert {kind: getattr(summary, kind) for kind in ENDS} == {kind: counted[kind] for kind in ENDS}
        assert summary.pulled == counted.total(), "every job once"
        pairs = Counter((event.job.job_id, event.job.fence) for event in self.events if event.job)
        assert all(count == 1 for count in pairs.values())
        accepted = [said for row in self.server.rows.values() for said in row.answers]
        assert summary.done <= accepted.count(True) <= summary.done + summary.lost
        assert summary.failed <= accepted.count(False) <= summary.failed + summary.lost


@given(strategies.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_whatever_happens_each_job_leaves_the_desk_once(seed: int) -> None:
    life = Life(seed, is_calm=False)
    life.live(steps=200)
    life.end()
    life.compare()


@given(strategies.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_while_locks_last_nothing_is_lost_or_left_locked(seed: int) -> None:
    life = Life(seed, is_calm=True)
    life.live(steps=200)
    life.end()
    life.compare()
    if not life.server.locks_ended:
        assert life.desk.summary.lost == 0
        left = [row.job_id for row in life.server.rows.values() if row.status == "locked"]
        assert not left or life.was_unsure_of_a_waiting_pull
