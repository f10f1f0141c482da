"""The life of a bot job, as a table. docs/reference/bot-job-states.md is drawn from it.

pending   waits to be pulled
locked    a bot has it until its lock ends
done      its result is stored
failed    every attempt failed, or somebody gave it up
expired   its lock ended without an answer; waits for a person
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class JobState(StrEnum):
    PENDING = "pending"
    LOCKED = "locked"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"


class Transition(NamedTuple):
    old: JobState
    new: JobState
    when: str


TRANSITIONS = (
    Transition(JobState.PENDING, JobState.LOCKED, "a bot pulls it"),
    Transition(JobState.LOCKED, JobState.DONE, "success is submitted"),
    Transition(JobState.LOCKED, JobState.PENDING, "failure is submitted, attempts are left"),
    Transition(JobState.LOCKED, JobState.FAILED, "failure is submitted, no attempt is left"),
    Transition(JobState.LOCKED, JobState.EXPIRED, "its lock ends"),
    Transition(JobState.LOCKED, JobState.PENDING, "its lock ends under requeue_expired, attempts are left"),
    Transition(JobState.LOCKED, JobState.FAILED, "its lock ends under requeue_expired, no attempt is left"),
    Transition(JobState.LOCKED, JobState.PENDING, "the bot releases it"),
    Transition(JobState.LOCKED, JobState.PENDING, "a person resets it"),
    Transition(JobState.EXPIRED, JobState.PENDING, "a person resets it"),
    Transition(JobState.FAILED, JobState.PENDING, "a person resets it"),
    Transition(JobState.PENDING, JobState.FAILED, "a person gives it up"),
    Transition(JobState.LOCKED, JobState.FAILED, "a person gives it up"),
    Transition(JobState.EXPIRED, JobState.FAILED, "a person gives it up"),
)

OPEN = (JobState.PENDING, JobState.LOCKED)  # a URL has at most one such job
CLOSED = (JobState.DONE, JobState.FAILED, JobState.EXPIRED)  # no bot has it or will get it by itself
LOST = (JobState.FAILED, JobState.EXPIRED)
RESETTABLE = tuple(step.old for step in TRANSITIONS if step.when == "a person resets it")
ABANDONABLE = tuple(step.old for step in TRANSITIONS if step.when == "a person gives it up")


def may_become(old: str, new: str) -> bool:
    return any(step.old == old and step.new == new for step in TRANSITIONS)


def next_retry(retry_count: int, max_retries: int) -> tuple[JobState, int]:
    """What a failed attempt makes of a job. `max_retries` counts attempts."""
    if retry_count < max_retries - 1:
        return JobState.PENDING, retry_count + 1
    return JobState.FAILED, max_retries
