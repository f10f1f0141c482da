"""The words the desk and its drivers share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from crawler.integrations.client.channel import Channel
from crawler.integrations.client.errands import Errand
from crawler.integrations.client.jobs import Answer, Job


class Stage(Enum):
    """A held job's way: every one ends as GONE, and is counted once when it does."""

    WAITING = "waiting"
    RUNNING = "running"
    ANSWERED = "answered"
    LEAVING = "leaving"
    GONE = "gone"


@dataclass(slots=True, eq=False)
class Held:
    job: Job
    lock_ends_at: float
    stage: Stage = Stage.WAITING
    answer: Answer | None = None
    encoded: str = ""
    since: float = 0.0  # begun, then answered

    @property
    def beat_at(self) -> float:
        return self.lock_ends_at - self.job.timeout_seconds / 2

    @property
    def beat_early_at(self) -> float:
        """From then on it joins a heartbeat that is sent anyway."""
        return self.lock_ends_at - self.job.timeout_seconds * 2 / 3


class Begin(NamedTuple):
    """To the driver: give this job to a worker."""

    held: Held


class Send(NamedTuple):
    """To the driver: run this errand and bring back what came of it."""

    channel: Channel
    errand: Errand


Command = Begin | Send


class Event(NamedTuple):
    """Something to tell people. `kind` is one of pulled, done, failed, released, lost, trouble, recovered, stopping."""

    kind: str
    detail: str = ""
    job: Job | None = None


@dataclass(frozen=True, slots=True)
class Options:
    workers: int = 8
    domain: str | None = None
    until_idle: bool = False
    max_jobs: int = 100
    wait_seconds: float = 5.0
    grace_seconds: float = 20.0


@dataclass(slots=True)
class Summary:
    """What a run came to. Of the pulled jobs each is counted once: `done`, `failed` (the server knows), `released`
    (given back), or `lost`: the lock was over, or the server could not be told before the end."""

    pulled: int = 0
    done: int = 0
    failed: int = 0
    released: int = 0
    lost: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        counted = ", ".join(f"{getattr(self, name)} {name}" for name in ("done", "failed", "released", "lost"))
        return f"{counted} in {self.seconds:.1f} s"
