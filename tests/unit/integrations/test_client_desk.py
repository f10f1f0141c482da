"""What the desk decides, step by step."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crawler.integrations.client import AuthenticationError, Failure, PutOff, Refused, Result, TooLarge
from crawler.integrations.client.attempts import answered
from crawler.integrations.client.desk import FLUSH_SECONDS, Desk
from crawler.integrations.client.holding import Begin, Held, Options, Send
from crawler.integrations.client.pace import Pace
from tests.unit.integrations.server_model import LOCK_SECONDS, ServerModel


class Room:
    """A desk, a server and a clock."""

    def __init__(self, jobs: int = 0, **options: Any) -> None:
        self.server = ServerModel()
        self.server.add_jobs(jobs)
        self.desk = Desk("bot-001", Options(**options), jitter=lambda: 1.0)
        self.begun: list[Held] = []
        self.sent: list[Send] = []

    def look(self, answering: bool = True) -> list[str]:
        """Does what is due until nothing is; which requests that took."""
        paths = []
        while commands := self.desk.due(self.server.now):
            for command in commands:
                if isinstance(command, Begin):
                    self.begun.append(command.held)
                    continue
                paths.append(command.errand.path)
                self.sent.append(command)
                if answering:
                    self.reply(self.server.answer(command.errand))
            if not answering:
                break
        return paths

    def reply(self, outcome: Any) -> None:
        self.desk.replied(self.sent[-1].channel, outcome, self.server.now)

    def finish(self, answer: Any = None) -> None:
        self.desk.answered(*answered(self.begun.pop(0), answer or Result(1, "EUR")), self.server.now)

    def body(self) -> Any:
        return json.loads(self.sent[-1].errand.body)


def test_an_idle_bot_waits_at_the_server() -> None:
    room = Room(workers=2)
    assert room.look(answering=False) == ["pull"]
    assert "wait_seconds" not in room.body() and room.sent[-1].errand.key
    room.reply({"jobs": []})
    assert room.look(answering=False) == ["pull"]
    assert room.body()["wait_seconds"] == 5 and room.sent[-1].errand.key is None
    room.reply({"jobs": []})  # at once: too many wait already
    assert room.look() == []
    assert 0 < room.desk.seconds_to_wait(room.server.now) <= 1


def test_it_pulls_no_more_than_workers_until_it_knows_how_long_jobs_take() -> None:
    room = Room(jobs=50, workers=4)
    room.look()
    assert len(room.begun) == 4 and not room.desk.waiting
    room.server.now += 1
    room.finish()
    room.look()
    assert len(room.begun) == 4 and len(room.desk.waiting) == 20, "four workers, a second a job, five seconds ahead"


@pytest.mark.parametrize(
    ("seconds", "lock_seconds", "ahead"), [(0.001, 600, 100), (1, 600, 40), (30, 600, 2), (600, 600, 0), (1, 4, 8)]
)
def test_work_kept_ready_depends_on_how_long_it_takes(seconds: float, lock_seconds: int, ahead: int) -> None:
    pace = Pace(workers=8, most_per_pull=100)
    pace.learn(seconds)
    pace.lock_seconds = lock_seconds
    assert pace.jobs_ahead() == ahead


def test_answers_are_collected_while_there_is_work() -> None:
    room = Room(jobs=3, workers=3)
    room.look()
    room.finish()
    assert "submit/batch" not in room.look()
    room.server.now += FLUSH_SECONDS
    assert "submit/batch" in room.look()
    room.finish()
    room.finish()
    assert "submit/batch" in room.look(), "at once when nobody works"
    assert room.desk.summary.done == 3


def test_heartbeats_come_long_before_the_lock_ends() -> None:
    room = Room(jobs=2, workers=2)
    room.look()
    room.server.now += LOCK_SECONDS / 2 - 1
    assert "heartbeat" not in room.look()
    room.server.now += 2
    assert room.look().count("heartbeat") == 1
    assert len(json.loads(next(one for one in room.sent if one.errand.path == "heartbeat").errand.body)["job_ids"]) == 2
    room.server.now += LOCK_SECONDS - 20
    room.look()
    assert all(row.status == "locked" for row in room.server.rows.values())


def test_a_lost_lock_is_not_worked_for() -> None:
    room = Room(jobs=1, workers=1)
    room.look()
    room.server.rows["job-0"].status = "expired"
    room.server.now += LOCK_SECONDS
    room.look()
    assert room.desk.summary.lost == 1
    room.finish()
    assert "submit/batch" not in room.look()


def test_the_same_request_is_sent_again_until_it_is_answered() -> None:
    room = Room(jobs=1, workers=1)
    room.look()
    room.finish()
    room.look(answering=False)
    first = next(one.errand for one in room.sent if one.errand.path == "submit/batch")
    room.desk.replied(room.desk.submit, PutOff("busy", retry_after_seconds=7), room.server.now)
    room.server.now += 6.9
    assert "submit/batch" not in room.look(answering=False)
    room.server.now += 0.2
    assert "submit/batch" in room.look(answering=False)
    assert room.desk.submit.errand is first


def test_a_batch_that_is_too_large_is_halved() -> None:
    room = Room(jobs=4, workers=4)
    room.look()
    for _ in range(4):
        room.finish()
    room.look(answering=False)
    room.desk.replied(room.desk.submit, TooLarge("no", 413), room.server.now)
    room.look(answering=False)
    assert len(room.desk.submit.about) == 2
    room.desk.replied(room.desk.submit, TooLarge("no", 413), room.server.now)
    room.look(answering=False)
    room.desk.replied(room.desk.submit, TooLarge("no", 413), room.server.now)
    assert isinstance(room.desk.outbox[-1].answer, Failure), "one that is too large alone is a failure"


def test_wrong_credentials_end_it() -> None:
    room = Room(workers=1)
    room.look(answering=False)
    error = AuthenticationError("wrong", 401)
    room.reply(error)
    assert room.desk.is_over and room.desk.fatal is error
    assert room.look() == []


def test_a_wrong_address_ends_it_at_the_start_only() -> None:
    room = Room(workers=1)
    room.look(answering=False)
    room.reply({"jobs": []})
    room.look(answering=False)
    room.reply(Refused("a proxy's page", 404))
    assert not room.desk.is_over
    other = Room(workers=1)
    other.look(answering=False)
    other.reply(Refused("not found", 404))
    assert other.desk.is_over
