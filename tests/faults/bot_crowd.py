"""Run as a program: ten bots in one process, half of them badly behaved, each by a script of its own random seed.

Its one argument is a file of JSON: port, seed, folder for the journals, bots as [bot_id, token, manners], and
`dies_after` requests (or null), when it kills itself. It ends when its standard input does.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.faults.bot_journal import Journal
from tests.faults.bot_line import Line, Reply

CURRENCIES = ("EUR", "USD", "JPY")
Job = dict[str, Any]
Move = Callable[[list[Job]], None]


class Crowd:
    """What the bots of a process share: when to stop, when to die, and each other's jobs."""

    def __init__(self, dies_after: int | None) -> None:
        self.stopping = threading.Event()
        self.dies_after = dies_after
        self.requests = 0
        self.jobs: deque[Job] = deque(maxlen=100)

    def crossed(self) -> None:
        """Called in the middle of every request."""
        self.requests += 1
        if self.requests == self.dies_after:
            os.kill(os.getpid(), signal.SIGKILL)

    def rest(self, seconds: float) -> None:
        self.stopping.wait(seconds)


class Bot(threading.Thread):
    """Does what the guide says: answers what it pulled, in time, and sends again what may not have arrived."""

    def __init__(self, crowd: Crowd, line: Line, seed: str) -> None:
        super().__init__(name=line.journal.name)
        self.crowd, self.line = crowd, line
        self.chance = random.Random(seed)
        self.answers = 0
        self.moves: tuple[Move, ...] = (
            self.answer_each, self.answer_together, self.take_time, self.give_some_back,
        )  # fmt: skip

    def run(self) -> None:
        while not self.crowd.stopping.is_set():
            if jobs := self.pull():
                self.chance.choice(self.moves)(jobs)
            else:
                self.crowd.rest(0.05)
        self.line.close()

    def pull(self) -> list[Job]:
        reply = self.line.post("pull", self.pull_body())
        if reply is None or reply.is_trouble:
            self.crowd.rest(0.2)
            return []
        self.crowd.jobs += reply.jobs
        return reply.jobs

    def pull_body(self) -> dict[str, Any]:
        body = {"max_jobs": self.chance.randint(1, 6), "wait_seconds": self.chance.choice([0, 0, 1])}
        return body | ({"domain": "free"} if self.chance.random() < 0.1 else {})

    def answer_to(self, job: Job, *, fenced: bool | None = None) -> dict[str, Any]:
        """An answer that nobody else ever gives."""
        self.answers += 1
        mark = f"{self.line.journal.name}:{self.answers}"
        fenced = self.chance.random() < 0.7 if fenced is None else fenced
        shown = {"job_id": job["job_id"]} | ({"fence": job["fence"]} if fenced else {})
        if self.chance.random() < 0.3:
            return shown | {"success": False, "error_msg": mark}
        found = {
            "success": True, "price": f"{self.chance.randint(0, 99999)}.{self.chance.randint(0, 99):02}",
            "currency": self.chance.choice(CURRENCIES), "title": mark, "in_stock": self.chance.random() < 0.5,
            "parsed_data": {"mark": mark},
        }  # fmt: skip
        page = {"raw_html": f"<html><title>{mark}</title>{'x' * 500}</html>"} if self.chance.random() < 0.2 else {}
        return shown | found | page

    def submit(self, body: dict[str, Any], key: str | None = None) -> Reply | None:
        return self.line.post("submit", body, key)

    def insist(self, path: str, body: dict[str, Any]) -> None:
        """Until there is an answer; with a key it has its effect once."""
        key = uuid4().hex
        while not self.crowd.stopping.is_set():
            reply = self.line.post(path, body, key)
            if reply is not None and not reply.is_trouble:
                return
            self.crowd.rest(0.2)

    def answer_each(self, jobs: list[Job]) -> None:
        for job in jobs:
            if self.chance.random() < 0.5:
                self.submit(self.answer_to(job))
            else:
                self.insist("submit", self.answer_to(job))

    def answer_together(self, jobs: list[Job]) -> None:
        body = {"results": [self.answer_to(job) for job in jobs]}
        if self.chance.random() < 0.5:
            self.line.post("submit/batch", body)
        else:
            self.insist("submit/batch", body)

    def take_time(self, jobs: list[Job]) -> None:
        self.line.post("heartbeat", {"job_ids": [job["job_id"] for job in jobs]})
        self.crowd.rest(self.chance.random())
        self.answer_each(jobs)

    def give_some_back(self, jobs: list[Job]) -> None:
        half = len(jobs) // 2
        self.line.post("release", {"job_ids": [job["job_id"] for job in jobs[: half + 1]]})
        self.answer_each(jobs[half + 1 :])


class BadBot(Bot):
    """Every way to misbehave."""

    def __init__(self, crowd: Crowd, line: Line, seed: str) -> None:
        super().__init__(crowd, line, seed)
        self.moves = (
            self.answer_each, self.forget, self.oversleep, self.answer_twice, self.answer_twice_differently,
            self.show_a_wrong_fence, self.answer_for_others, self.touch_what_others_have, self.answer_what_it_gave_back,
            self.mix_a_batch, self.break_off, self.hang_up, self.answer_twice_at_once, self.use_a_key_again,
            self.pull_and_vanish,
        )  # fmt: skip

    def forget(self, jobs: list[Job]) -> None:
        """Its locks end by themselves."""

    def oversleep(self, jobs: list[Job]) -> None:
        self.crowd.rest(max(job["timeout_seconds"] for job in jobs) + 0.1 + self.chance.random())
        self.line.post("heartbeat", {"job_ids": [jobs[0]["job_id"]]})
        for job in jobs:
            self.submit(self.answer_to(job))

    def answer_twice(self, jobs: list[Job]) -> None:
        for job in jobs:
            body = self.answer_to(job)
            self.submit(body)
            self.submit(body)

    def answer_twice_differently(self, jobs: list[Job]) -> None:
        for job in jobs:
            self.submit(self.answer_to(job, fenced=False))
            self.submit(self.answer_to(job | {"fence": job["fence"] + 1}, fenced=True))
            self.submit(self.answer_to(job, fenced=False))

    def show_a_wrong_fence(self, jobs: list[Job]) -> None:
        for job in jobs:
            wrong = job["fence"] + self.chance.choice([-1, 1, 1000])
            self.submit(self.answer_to(job | {"fence": max(0, wrong)}, fenced=True))
        self.line.post("submit/batch", {"results": [self.answer_to(job, fenced=True) for job in jobs]})

    def answer_for_others(self, jobs: list[Job]) -> None:
        nobodys = {"job_id": str(uuid4()), "fence": 1}
        for job in [nobodys, *self.chance.sample(list(self.crowd.jobs), min(4, len(self.crowd.jobs)))]:
            self.submit(self.answer_to(job))
        self.answer_each(jobs)

    def touch_what_others_have(self, jobs: list[Job]) -> None:
        others = [job["job_id"] for job in list(self.crowd.jobs)[-10:]]
        self.line.post("heartbeat", {"job_ids": others})
        self.line.post("release", {"job_ids": others})
        self.answer_each(jobs)

    def answer_what_it_gave_back(self, jobs: list[Job]) -> None:
        self.line.post("release", {"job_ids": [job["job_id"] for job in jobs]})
        self.answer_each(jobs)

    def mix_a_batch(self, jobs: list[Job]) -> None:
        mixed: list[dict[str, Any]] = [self.answer_to(job) for job in jobs for _ in range(2)]
        mixed += [self.answer_to(job) for job in list(self.crowd.jobs)[:5]]
        mixed += [{"job_id": "no id", "success": True}, {"job_id": str(uuid4()), "success": False}]
        self.chance.shuffle(mixed)
        self.line.post("submit/batch", {"results": mixed})

    def break_off(self, jobs: list[Job]) -> None:
        for job in jobs:
            self.line.hang_up("submit", self.answer_to(job), self.chance.choice([0.0, 0.5, 0.95]))

    def hang_up(self, jobs: list[Job]) -> None:
        for job in jobs[1:]:
            self.line.hang_up("submit", self.answer_to(job), 1.0)
        self.line.hang_up("submit/batch", {"results": [self.answer_to(job) for job in jobs]}, 1.0)

    def answer_twice_at_once(self, jobs: list[Job]) -> None:
        for job in jobs:
            self.line.post_twice("submit", self.answer_to(job), uuid4().hex)

    def use_a_key_again(self, jobs: list[Job]) -> None:
        key, body = uuid4().hex, self.answer_to(jobs[0])
        self.submit(body, key)
        self.submit(body, key)
        self.submit(self.answer_to(jobs[-1]), key)

    def pull_and_vanish(self, jobs: list[Job]) -> None:
        self.line.hang_up("pull", self.pull_body(), 1.0)
        self.answer_together(jobs)


MANNERS = {"good": Bot, "bad": BadBot}


def main(path: str) -> None:
    plan = json.loads(Path(path).read_text())
    crowd = Crowd(plan["dies_after"])
    bots = []
    for bot_id, token, manners in plan["bots"]:
        journal = Journal(Path(plan["folder"]), bot_id)
        line = Line(plan["port"], bot_id, token, journal, crowd.crossed)
        bots.append(MANNERS[manners](crowd, line, f"{plan['seed']} {journal.name}"))
    for bot in bots:
        bot.start()
    sys.stdin.read()
    crowd.stopping.set()
    ends_at = time.monotonic() + 60
    for bot in bots:
        bot.join(max(0.0, ends_at - time.monotonic()))
    assert not any(bot.is_alive() for bot in bots)


if __name__ == "__main__":
    main(sys.argv[1])
