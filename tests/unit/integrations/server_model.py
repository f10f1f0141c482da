"""A server of bots in a few lines, with a clock of its own: locks that end, fences, keys that are answered once."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from crawler.integrations.client.errands import Errand

LOCK_SECONDS = 60
MOMENT = "2026-01-07T10:10:00Z"


@dataclass
class Row:
    job_id: str
    status: str = "pending"
    fence: int = 0
    lock_ends_at: float = 0.0
    answers: list[bool] = field(default_factory=list)  # accepted ones


class ServerModel:
    def __init__(self) -> None:
        self.now = 0.0
        self.rows: dict[str, Row] = {}
        self.replays: dict[str, dict[str, Any]] = {}
        self.locks_ended: set[tuple[str, int]] = set()
        self.released: Counter[tuple[str, int]] = Counter()

    def add_jobs(self, count: int) -> None:
        for _ in range(count):
            job_id = f"job-{len(self.rows)}"
            self.rows[job_id] = Row(job_id)

    def end_locks(self) -> None:
        """Ended ones are pending again, as under `requeue_expired`."""
        for row in self.rows.values():
            if row.status == "locked" and row.lock_ends_at < self.now:
                self.locks_ended.add((row.job_id, row.fence))
                row.status = "pending"

    def answer(self, errand: Errand) -> dict[str, Any]:
        self.end_locks()
        if errand.key in self.replays:
            return self.replays[errand.key]
        body = json.loads(errand.body)
        data = getattr(self, "_" + errand.path.replace("/", "_"))(body)
        if errand.key:
            self.replays[errand.key] = data
        return dict(data)

    def _pull(self, body: dict[str, Any]) -> dict[str, Any]:
        rows = [row for row in self.rows.values() if row.status == "pending"][: body["max_jobs"]]
        for row in rows:
            row.status, row.fence, row.lock_ends_at = "locked", row.fence + 1, self.now + LOCK_SECONDS
        return {"jobs": [self._shown(row) for row in rows]}

    def _shown(self, row: Row) -> dict[str, Any]:
        return {
            "job_id": row.job_id,
            "url": f"https://example.com/{row.job_id}",
            "priority": 5,
            "max_retries": 3,
            "timeout_seconds": LOCK_SECONDS,
            "retry_count": 0,
            "locked_until": MOMENT,
            "fence": row.fence,
        }

    def _submit_batch(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"results": [self._line(one) for one in body["results"]]}

    def _line(self, one: dict[str, Any]) -> dict[str, Any]:
        row = self.rows[one["job_id"]]
        if row.status != "locked":
            return {"success": False, "status_code": 400, "error": "job_not_locked", "detail": row.status}
        if row.fence != one["fence"]:
            return {"success": False, "status_code": 403, "error": "not_assigned", "detail": "pulled again"}
        if one.get("currency") == "ZZZ":
            return {"success": False, "status_code": 400, "error": "validation_error", "detail": {"currency": ["no"]}}
        row.answers.append(one["success"])
        row.status = "done" if one["success"] else "pending"
        return {"success": True, "status_code": 200, "data": {"status": row.status}}

    def _heartbeat(self, body: dict[str, Any]) -> dict[str, Any]:
        kept = [self.rows[one] for one in body["job_ids"] if self.rows[one].status == "locked"]
        for row in kept:
            row.lock_ends_at = self.now + LOCK_SECONDS
        return {"extended": [{"job_id": row.job_id, "locked_until": MOMENT} for row in kept]}

    def _release(self, body: dict[str, Any]) -> dict[str, Any]:
        kept = [self.rows[one] for one in body["job_ids"] if self.rows[one].status == "locked"]
        for row in kept:
            row.status = "pending"
            self.released[row.job_id, row.fence] += 1
        return {"released": [row.job_id for row in kept]}
