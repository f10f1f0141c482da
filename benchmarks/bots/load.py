"""Bots without a crawl: they pull ten jobs and answer them, again and again, as fast as the server lets them.

    python -m benchmarks.bots.load '{"port": …, "bots": …, "seconds": …, "way": "single" or "batch"}'

A process of its own that costs as little as may be: one connection a bot, requests put together by hand. It prints one
line of JSON: what was accepted and how long pulls took, without the first half second.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import uvloop

from benchmarks.bots.filling import token_of

WARM_UP_SECONDS = 0.5
JOBS_A_PULL = 10


@dataclass
class Tally:
    accepted: int = 0  # from the start, to be compared with the database
    counted: int = 0  # after the warm-up
    pull_seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    ends_at: float = 0.0


class Connection(asyncio.Protocol):
    """HTTP/1.1 as far as our server needs it: answers have a length."""

    def __init__(self) -> None:
        self.buffer = b""
        self.answer: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found or self.answer is None:
            return
        at = head.lower().index(b"content-length:") + 15
        length = int(head[at:].split(b"\r\n", 1)[0])
        if len(body) >= length:
            self.buffer = b""
            self.answer.set_result(head[9:12] + body)

    def connection_lost(self, error: Exception | None) -> None:
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ConnectionError("the server closed the connection"))

    async def post(self, head: bytes, body: bytes) -> tuple[int, bytes]:
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        answer = await self.answer
        return int(answer[:3]), answer[3:]


class Bot:
    def __init__(self, number: int, port: int, tally: Tally) -> None:
        self.port, self.tally = port, tally
        self.shown = f'"bot_id": "bench-{number}", "api_token": "{token_of(number)}"'
        self.heads = {path: head_of(path, port) for path in ("pull", "submit", "submit/batch")}

    async def run(self, way: str, began: float) -> None:
        _, self.connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", self.port)
        answer = {"single": self.submit_each, "batch": self.submit_all, "pull": self.keep}[way]
        while time.perf_counter() < self.tally.ends_at:
            jobs = await self.pull(began)
            if not jobs:
                return
            await answer(jobs, began)
        self.connection.transport.close()

    async def ask(self, path: str, body: str) -> tuple[int, bytes]:
        return await self.connection.post(self.heads[path], f"{{{self.shown}, {body}}}".encode())

    async def pull(self, began: float) -> list[dict[str, Any]]:
        asked_at = time.perf_counter()
        status, body = await self.ask("pull", f'"max_jobs": {JOBS_A_PULL}')
        now = time.perf_counter()
        if status != 200:
            self.tally.errors.append(f"pull: {status} {body[:200]!r}")
            return []
        if asked_at >= began and now <= self.tally.ends_at:
            self.tally.pull_seconds.append(now - asked_at)
        jobs: list[dict[str, Any]] = json.loads(body)["data"]["jobs"]
        return jobs

    async def submit_each(self, jobs: list[dict[str, Any]], began: float) -> None:
        for job in jobs:
            status, body = await self.ask("submit", result_of(job))
            self.note(1 if status == 201 else 0, 1, body, began)

    async def submit_all(self, jobs: list[dict[str, Any]], began: float) -> None:
        lines = ", ".join(f"{{{result_of(job)}}}" for job in jobs)
        _, body = await self.ask("submit/batch", f'"results": [{lines}]')
        self.note(json.loads(body).get("data", {}).get("accepted", 0), len(jobs), body, began)

    async def keep(self, jobs: list[dict[str, Any]], began: float) -> None:
        """Pulls alone."""

    def note(self, accepted: int, sent: int, body: bytes, began: float) -> None:
        self.tally.accepted += accepted
        if accepted != sent:
            self.tally.errors.append(f"submit: {body[:200]!r}")
        if began <= time.perf_counter() <= self.tally.ends_at:
            self.tally.counted += accepted


def head_of(path: str, port: int) -> bytes:
    return f"POST /api/crawl/{path}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n".encode()


def result_of(job: dict[str, Any]) -> str:
    return (
        f'"job_id": "{job["job_id"]}", "fence": {job["fence"]}, "success": true, "price": 1299.99, "currency": "EUR",'
        ' "title": "A product with a name of usual length, 42 cm, blue", "in_stock": true,'
        ' "parsed_data": {"sku": "AB-1234", "brand": "Example", "availability": "InStock", "rating": 4.5}'
    )


async def drive(port: int, bots: int, seconds: float, way: str) -> Tally:
    began = time.perf_counter() + WARM_UP_SECONDS
    tally = Tally(ends_at=began + seconds)
    await asyncio.gather(*(Bot(number, port, tally).run(way, began) for number in range(bots)))
    return tally


def main() -> None:
    asked = json.loads(sys.argv[1])
    tally = uvloop.run(drive(**asked))
    told = {"accepted": tally.accepted, "counted": tally.counted, "errors": tally.errors[:3]}
    print(json.dumps(told | {"pull_seconds": [round(one, 6) for one in tally.pull_seconds]}))


if __name__ == "__main__":
    main()
