"""The flight recorder's events as steps with a meaning, and the holds they make up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby

from tests.faults.bot_people import GIVEN_UP
from tests.faults.bot_record import Event

OVERDUE = "Lock TTL exceeded"


@dataclass(frozen=True)
class Step:
    """From one event of a job to the next. `kind` is None when nothing allows it."""

    before: Event | None
    after: Event
    kind: str | None

    @property
    def holder(self) -> str | None:
        return self.before.locked_by if self.before else None


@dataclass
class Hold:
    """A bot has a job: from its hand-out until the step that ended it."""

    granted: Step
    lock_ends: list[tuple[float, float]] = field(default_factory=list)  # since when it would end when
    ended: Step | None = None

    @property
    def bot(self) -> str | None:
        return self.granted.after.locked_by

    @property
    def fence(self) -> int:
        return self.granted.after.fence

    @property
    def until(self) -> float:
        return self.lock_ends[-1][1]

    def stood_throughout(self, since: float, to: float) -> bool:
        """Whether it was certainly held, its lock alive, all that time."""
        known = [until for at, until in self.lock_ends if at < since]
        return bool(known) and known[-1] > to and (self.ended is None or self.ended.after.at > to)


def steps_of(events: list[Event]) -> list[Step]:
    last: dict[str, Event] = {}
    steps = []
    for event in events:
        before = last.get(event.job_id)
        steps.append(Step(before, event, _kind(before, event)))
        last[event.job_id] = event
    return steps


def holds_of(steps: list[Step]) -> dict[str, list[Hold]]:
    """By job, in order."""
    ordered = sorted(steps, key=lambda step: step.after.job_id)  # stable
    return {job_id: _holds(list(mine)) for job_id, mine in groupby(ordered, key=lambda step: step.after.job_id)}


def _holds(steps: list[Step]) -> list[Hold]:
    holds: list[Hold] = []
    for step in steps:
        until = step.after.locked_until
        if step.kind == "granted" and until is not None:
            holds.append(Hold(step, [(step.after.at, until)]))
        elif step.kind == "extended" and holds and until is not None:
            holds[-1].lock_ends.append((step.after.at, until))
        elif holds and holds[-1].ended is None and step.kind != "touched":
            holds[-1].ended = step
    return holds


def _kind(before: Event | None, after: Event) -> str | None:
    if before is None:
        return "made" if (after.status, after.fence, after.retry_count) == ("pending", 0, 0) else None
    if after.status != "locked" and replace(after, at=0, began=0) == replace(before, at=0, began=0):
        return "touched"
    if after.status == "pending" and (after.fence, after.retry_count) == (before.fence + 1, 0):
        return "reset" if before.status in ("locked", "expired", "failed") else None
    if before.status == "pending" and after.status == "locked":
        is_next = (after.fence, after.retry_count) == (before.fence + 1, before.retry_count)
        return "granted" if is_next and after.locked_by else None
    if after.fence != before.fence:
        return None
    if after.status == "failed" and after.error == GIVEN_UP:
        return "given up" if before.status in ("pending", "locked", "expired") else None
    return _end_of_lock(before, after) if before.status == "locked" else None


def _end_of_lock(before: Event, after: Event) -> str | None:
    attempts = after.retry_count - before.retry_count
    if after.status == "locked":
        same = after.locked_by == before.locked_by and attempts == 0
        return "extended" if same and (after.locked_until or 0) >= (before.locked_until or 0) else None
    if after.status == "expired":
        return "overdue" if attempts == 0 else None
    if after.status == "done":
        return "succeeded" if attempts == 0 else None
    if after.status == "pending" and attempts == 0:
        return "released"
    is_last = before.retry_count >= before.max_retries - 1
    if attempts != 1 or (after.status == "failed") != is_last:
        return None
    return "overdue" if after.error == OVERDUE else "attempt failed"
