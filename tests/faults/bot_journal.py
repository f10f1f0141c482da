"""What a bot knew, line by line, in a file that outlives it.

A request is noted before it is sent and its answer as soon as it was read, so a journal may lack an answer but never
has one that did not come. Times are this machine's, as the database's are.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Exchange:
    """A request and its answer, if one came."""

    bot: str
    path: str
    body: dict[str, Any]
    sent_at: float
    key: str | None = None
    answered_at: float | None = None
    status: int | None = None
    answer: Any = None
    replayed: bool = False

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = self.answer["data"] if self.status in (200, 201) else {}
        return found

    @property
    def was_answered(self) -> bool:
        return self.status is not None


class Journal:
    """One bot's, from its start to its end."""

    def __init__(self, folder: Path, bot: str) -> None:
        self.bot = bot
        life = len(list(folder.glob(f"{bot}.*")))
        self.name = f"{bot}.{life}"
        self.file = os.open(folder / f"{self.name}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.requests = 0

    def sending(self, path: str, body: dict[str, Any], key: str | None) -> int:
        self.requests += 1
        self._write(number=self.requests, bot=self.bot, path=path, body=body, key=key, sent_at=time.time())
        return self.requests

    def answered(self, number: int, status: int, text: bytes, replayed: bool) -> Any:
        """The answer as read; its text where it is no JSON."""
        try:
            answer = json.loads(text)
        except ValueError:
            answer = text.decode(errors="replace")
        self._write(number=number, answered_at=time.time(), status=status, answer=answer, replayed=replayed)
        return answer

    def _write(self, **facts: Any) -> None:
        os.write(self.file, json.dumps(facts).encode() + b"\n")


def read_journals(folder: Path) -> list[Exchange]:
    """All of them, in the order in which they were sent."""
    found = [exchange for path in folder.glob("*.jsonl") for exchange in _read(path)]
    return sorted(found, key=lambda exchange: exchange.sent_at)


def _read(path: Path) -> Iterator[Exchange]:
    by_number: dict[int, Exchange] = {}
    for line in path.read_text().splitlines(keepends=True):
        if not line.endswith("\n"):  # it died while it wrote this
            continue
        facts = json.loads(line)
        number = facts.pop("number")
        if "sent_at" in facts:
            by_number[number] = Exchange(**facts)
            continue
        for name, value in facts.items():
            setattr(by_number[number], name, value)
    yield from by_number.values()
