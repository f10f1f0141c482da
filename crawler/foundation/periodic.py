"""Work that is due again and again. An app declares it in its `tasks.py`; the scheduler runs it.

    @periodic("accounts.forget_old_answers", every_seconds=3600)
    def forget_old_answers() -> str: ...

The task runs under a lease, so with many schedulers it still runs once. It returns a line for the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], str]


@dataclass(frozen=True)
class Periodic:
    name: str
    every_seconds: float
    work: Work


TASKS: dict[str, Periodic] = {}


def periodic(name: str, *, every_seconds: float) -> Callable[[Work], Work]:
    def register(work: Work) -> Work:
        TASKS[name] = Periodic(name, every_seconds, work)
        return work

    return register
