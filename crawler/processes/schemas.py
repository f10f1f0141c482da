from __future__ import annotations

from datetime import datetime
from uuid import UUID

from ninja import Schema


class ProcessOut(Schema):
    id: UUID
    kind: str
    host: str
    pid: int
    version: str
    started_at: datetime
    last_seen_at: datetime
    alive: bool


class TaskOut(Schema):
    name: str
    next_run_at: datetime
    last_finished_at: datetime | None
    last_outcome: str
    failures_in_a_row: int


class Processes(Schema):
    processes: list[ProcessOut]
    tasks: list[TaskOut]
