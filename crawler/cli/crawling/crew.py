"""Who does the work: one worker in this process, or several in processes of their own.

A process of its own holds a pipe to us on its standard input and ends itself when we are gone; it reports on its
standard output. One that dies is replaced, a few times; what it held is given back first.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from crawler.cli.crawling.figures import Eye, Figures, of_line, sum_of
from crawler.cli.crawling.place import Lock
from crawler.engine.limits import Limits
from crawler.engine.progress import Progress

REPLACEMENTS = 5
STOP_SECONDS = 20.0
# A person waits for the end of this crawl; what is due in a few minutes is waited for.
LIMITS = Limits(worth_waiting_seconds=300.0)
# One of several looks up more often, lest all wait for one that has not noticed the end.
LIMITS_OF_SEVERAL = Limits(worth_waiting_seconds=300.0, control_seconds=0.3, shares=True)


class CrewLost(Exception):
    """The processes die again and again."""


class Crew(Protocol):
    def work(self, stop: Callable[[], bool]) -> None:
        """Until nothing is left to fetch, or `stop`."""
        ...

    def figures(self) -> Figures: ...

    def kill(self) -> None: ...


class OneWorker:
    """In this process: nothing to start, nothing to send."""

    def __init__(self, crawl_id: int, name: str, limits: Limits = LIMITS) -> None:
        self.crawl_id = crawl_id
        self.name = name
        self.limits = limits
        self.progress = Progress()
        self.eye = Eye(self.progress)

    def work(self, stop: Callable[[], bool]) -> None:
        from crawler.crawls.working import work

        work(
            stop,
            only=[self.crawl_id],
            until_done=True,
            name=self.name,
            progress=self.progress,
            limits=self.limits,
            made=self.eye.look_at,
        )

    def figures(self) -> Figures:
        return self.eye.figures()

    def kill(self) -> None:
        pass


@dataclass(slots=True)
class Member:
    """A process, and what it reported last."""

    name: str
    process: subprocess.Popen[bytes]
    figures: Figures = field(default_factory=Figures)
    is_counted_out: bool = False


class Processes:
    def __init__(self, crawl_id: int, count: int, lock: Lock, log_file: Path) -> None:
        self.crawl_id = crawl_id
        self.count = count
        self.lock = lock
        self.log_file = log_file
        self.members: list[Member] = []  # also those that ended: what they did counts
        self.deaths = 0

    def work(self, stop: Callable[[], bool]) -> None:
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        try:
            for _ in range(self.count):
                self._start_one()
            while any(member.process.poll() is None for member in self.members) and not stop():
                time.sleep(0.1)
                self._replace_dead(stop)
            self._replace_dead(lambda: True)
        finally:
            self._end()

    def _start_one(self) -> None:
        name = f"{self.lock.mark}:{len(self.members) + 1}"
        command = [sys.executable, "-m", "crawler.cli.crawling.child", str(self.crawl_id), name]
        with self.log_file.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                pass_fds=[self.lock.file],
            )
        member = Member(name, process)
        self.members.append(member)
        assert process.stdout is not None  # noqa: S101 - a pipe, as asked for above
        threading.Thread(target=_listen, args=(member, process.stdout), daemon=True).start()

    def _replace_dead(self, stop: Callable[[], bool]) -> None:
        from crawler.crawls.resuming import release_dead_claims

        for member in list(self.members):
            if member.is_counted_out or not member.process.poll():
                continue
            member.is_counted_out = True
            self.deaths += 1
            release_dead_claims(f"{member.name}:")
            if stop():
                continue
            if self.deaths > REPLACEMENTS:
                raise CrewLost(f"{self.deaths} worker processes died; the last with code {member.process.returncode}")
            self._start_one()

    def _end(self) -> None:
        for member in self.members:
            if member.process.poll() is None:
                member.process.terminate()
        until = time.monotonic() + STOP_SECONDS
        for member in self.members:
            try:
                member.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                member.process.kill()
                member.process.wait()
        self._replace_dead(lambda: True)

    def figures(self) -> Figures:
        return sum_of(member.figures for member in self.members)

    def kill(self) -> None:
        for member in self.members:
            if member.process.poll() is None:
                member.process.kill()


def _listen(member: Member, reports: IO[bytes]) -> None:
    for line in reports:
        member.figures = of_line(line)
