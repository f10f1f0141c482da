"""The line between one bot and the server: every request is in the journal, whatever becomes of it."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.faults.bot_journal import Journal

PATIENCE_SECONDS = 60


class Reply(NamedTuple):
    status: int
    answer: Any

    @property
    def is_trouble(self) -> bool:
        """Not an answer to the question: the server or its database was away, or the key is in use."""
        return self.status >= 500 or self.status == 409

    @property
    def jobs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.answer["data"]["jobs"] if self.status == 200 else []
        return found


class Line:
    def __init__(self, port: int, bot_id: str, token: str, journal: Journal, crossed: Callable[[], None]) -> None:
        self.port, self.journal, self.crossed = port, journal, crossed
        self.shown = {"bot_id": bot_id, "api_token": token}
        self.connection: http.client.HTTPConnection | None = None

    def post(self, path: str, body: dict[str, Any], key: str | None = None) -> Reply | None:
        """None when the connection broke: nobody knows whether it arrived."""
        number = self.journal.sending(path, body, key)
        self.crossed()
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
            self._send(self.connection, path, body, key)
            return self._read(self.connection, number)
        except (OSError, http.client.HTTPException):
            self.close()
            return None

    def post_twice(self, path: str, body: dict[str, Any], key: str) -> None:
        """The same at the same time, over two connections."""
        lines = [http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS) for _ in range(2)]
        try:
            numbers = []
            for line in lines:
                numbers.append(self.journal.sending(path, body, key))
                self._send(line, path, body, key)
            for line, number in zip(lines, numbers, strict=True):
                self._read(line, number)
        except (OSError, http.client.HTTPException):
            pass
        finally:
            for line in lines:
                line.close()

    def hang_up(self, path: str, body: dict[str, Any], share: float) -> None:
        """Send only so much of the request (1.0: all of it) and go without waiting for an answer."""
        self.journal.sending(path, body, None)
        self.crossed()
        text = json.dumps(self.shown | body).encode()
        head = f"POST /api/crawl/{path}/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        request = head.encode() + f"Content-Length: {len(text)}\r\n\r\n".encode() + text
        kept = len(request) if share == 1.0 else len(request) - len(text) + int(len(text) * share)
        try:
            with socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS) as line:
                line.sendall(request[:kept])
        except OSError:
            pass

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _send(self, line: http.client.HTTPConnection, path: str, body: dict[str, Any], key: str | None) -> None:
        headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
        line.request("POST", f"/api/crawl/{path}/", json.dumps(self.shown | body), headers)

    def _read(self, line: http.client.HTTPConnection, number: int) -> Reply:
        response = line.getresponse()
        text = response.read()
        replayed = response.headers.get("Idempotent-Replayed") == "true"
        return Reply(response.status, self.journal.answered(number, response.status, text, replayed))
