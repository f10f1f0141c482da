"""The five things a bot asks its server for, as values: where to, with which body, under which key.

An errand's body and key never change, so that sending it again is the same request: the server answers a key once and
repeats that answer. Only a pull that waits has no key, as nobody waits in a transaction.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

from crawler.integrations.client.errors import ServerError
from crawler.integrations.client.jobs import Answer, GiveBack, Job, as_json

MOST_IN_A_REQUEST = 500
MOST_BYTES_IN_A_REQUEST = 8 * 1024 * 1024  # the server takes 16 MiB
MOST_JOBS_PER_PULL = 100
# What an answer must have.
ANSWERED_BY = {
    "pull": "jobs",
    "submit": "status",
    "submit/batch": "results",
    "heartbeat": "extended",
    "release": "released",
}


class Wire(Protocol):
    def post(self, path: str, body: str, key: str | None = None, timeout: float = 30) -> dict[str, Any]: ...


def new_key() -> str:
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class Errand:
    path: str
    body: str
    key: str | None = field(default_factory=new_key)
    waits_seconds: float = 0

    def run(self, wire: Wire) -> dict[str, Any]:
        """Raises BotError."""
        data = wire.post(self.path, self.body, self.key, 30 + self.waits_seconds)
        if ANSWERED_BY[self.path] not in data:
            raise ServerError(f"an answer to {self.path} without {ANSWERED_BY[self.path]!r}")
        return data


def pull(bot_id: str, max_jobs: int, wait_seconds: float = 0, domain: str | None = None) -> Errand:
    asked: dict[str, Any] = {"bot_id": bot_id, "max_jobs": max_jobs}
    if domain:
        asked["domain"] = domain
    if wait_seconds > 0:
        return Errand("pull", json.dumps(asked | {"wait_seconds": wait_seconds}), None, wait_seconds)
    return Errand("pull", json.dumps(asked))


def submit(bot_id: str, encoded: str) -> Errand:
    return Errand("submit", f'{{"bot_id": {json.dumps(bot_id)}, {encoded[1:]}')


def submit_batch(bot_id: str, encoded: list[str]) -> Errand:
    return Errand("submit/batch", f'{{"bot_id": {json.dumps(bot_id)}, "results": [{", ".join(encoded)}]}}')


def heartbeat(bot_id: str, job_ids: list[str]) -> Errand:
    return Errand("heartbeat", json.dumps({"bot_id": bot_id, "job_ids": job_ids}), None)


def release(bot_id: str, job_ids: list[str]) -> Errand:
    return Errand("release", json.dumps({"bot_id": bot_id, "job_ids": job_ids}))


def encode(job: Job, answer: Answer) -> str:
    """One answer as the server reads it, with its fence. A page too big to be sent at all stays behind."""
    if isinstance(answer, GiveBack):
        return ""
    about = {"job_id": job.job_id} | ({} if job.fence is None else {"fence": job.fence})
    text = as_json(about | answer.body())
    if len(text) > MOST_BYTES_IN_A_REQUEST:
        text = as_json(about | {name: value for name, value in answer.body().items() if name != "raw_html"})
    return text
