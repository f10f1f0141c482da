"""The desk under any order of answers, failures and ends: each pulled job leaves it once, and the server agrees."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crawler.integrations.client import BotError, Failure, GiveBack, Result, ServerError, Unreachable
from crawler.integrations.client.attempts import answered
from crawler.integrations.client.desk import Desk
from crawler.integrations.client.holding import Begin, Event, Held, Options, Send, Stage
from crawler.integrations.client.jobs import Answer
from tests.unit.integrations.server_model import ServerModel

ANSWERS: list[Answer] = [Result(1, "EUR"), Result(2, "XXX"), Failure("broken"), GiveBack()]
ENDS = ("done", "failed", "released", "lost")


class Desks(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.server = ServerModel()
        self.desk = Desk("bot-001", Options(workers=3, max_jobs=5), jitter=lambda: 0.5)
        self.running: list[Held] = []
        self.out: list[Send] = []
        self.events: list[Event] = []
        self.was_unsure_of_a_waiting_pull = False

    @property
    def now(self) -> float:
        return self.server.now

    @rule(count=strategies.integers(1, 6))
    def jobs_turn_up(self, count: int) -> None:
        self.server.add_jobs(count)

    @rule()
    def look_what_is_due(self) -> None:
        for command in self.desk.due(self.now):
            if isinstance(command, Begin):
                self.running.append(command.held)
            else:
                self.out.append(command)
        self.events += self.desk.events
        self.desk.events = []

    @precondition(lambda self: self.running)
    @rule(data=strategies.data())
    def a_worker_is_done(self, data: Any) -> None:
        held = self.running.pop(data.draw(strategies.integers(0, len(self.running) - 1)))
        self.desk.answered(*answered(held, data.draw(strategies.sampled_from(ANSWERS))), self.now)

    @precondition(lambda self: self.out)
    @rule(
        data=strategies.data(), fate=strategies.sampled_from(["answered", "answered", "lost", "never sent", "failed"])
    )
    def the_server_is_asked(self, data: Any, fate: str) -> None:
        send = self.out.pop(data.draw(strategies.integers(0, len(self.out) - 1)))
        self.desk.replied(send.channel, self.outcome(send, fate), self.now)

    def outcome(self, send: Send, fate: str) -> dict[str, Any] | BotError:
        if fate == "never sent":
            return Unreachable("refused")
        if fate == "failed":
            return ServerError("500")
        reply = self.server.answer(send.errand)
        if fate == "lost":
            self.was_unsure_of_a_waiting_pull |= send.errand.path == "pull" and send.errand.key is None
            return Unreachable("broken off", was_sent=True)
        return reply

    @rule(seconds=strategies.sampled_from([0.1, 1.0, 10.0, 40.0, 100.0]))
    def time_passes(self, seconds: float) -> None:
        self.server.now += seconds

    @rule()
    def asked_to_stop(self) -> None:
        self.desk.stop(self.now)

    @invariant()
    def no_answer_is_accepted_twice(self) -> None:
        assert all(row.answers.count(True) <= 1 for row in self.server.rows.values())

    @invariant()
    def the_desk_knows_what_it_holds(self) -> None:
        assert all(held.stage is not Stage.GONE for held in self.desk.held.values())
        assert 0 <= self.desk.busy == len(self.running) <= 3

    def teardown(self) -> None:
        """With a server that answers, and workers that do not hang, the desk comes to its end."""
        was_calm = not self.desk.is_stopping and not self.server.locks_ended
        self.desk.stop(self.now)
        for _ in range(200):
            if self.desk.is_over:
                break
            self.look_what_is_due()
            while self.out:
                send = self.out.pop()
                self.desk.replied(send.channel, self.outcome(send, "answered"), self.now)
            self.server.now += self.desk.seconds_to_wait(self.now)
        assert self.desk.is_over
        self.look_what_is_due()
        self.compare()
        if was_calm and not self.server.locks_ended:
            assert self.desk.summary.lost == 0
            left = [row.job_id for row in self.server.rows.values() if row.status == "locked"]
            assert not left or self.was_unsure_of_a_waiting_pull, "nothing is left locked"

    def compare(self) -> None:
        counted = Counter(event.kind for event in self.events if event.kind in ENDS)
        summary = self.desk.summary
        assert {kind: getattr(summary, kind) for kind in ENDS} == {kind: counted[kind] for kind in ENDS}
        assert summary.pulled == counted.total(), "every job once"
        pairs = Counter((event.job.job_id, event.job.fence) for event in self.events if event.job)
        assert all(count == 1 for count in pairs.values())
        accepted = [said for row in self.server.rows.values() for said in row.answers]
        unknown = summary.lost  # a farewell that was too short may have arrived
        assert summary.done <= accepted.count(True) <= summary.done + unknown
        assert summary.failed <= accepted.count(False) <= summary.failed + unknown


Desks.TestCase.settings = settings(max_examples=150, stateful_step_count=60, deadline=None)
test_desk = Desks.TestCase
