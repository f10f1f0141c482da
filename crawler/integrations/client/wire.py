"""JSON over HTTP with connections that are kept open. Standard library only, for any number of threads."""

from __future__ import annotations

import http.client
import json
import select
import ssl
from collections import deque
from http.client import HTTPMessage
from typing import Any
from urllib.parse import urlsplit

from crawler import __version__
from crawler.integrations.client.errors import (
    AuthenticationError,
    ConfigurationError,
    PutOff,
    Refused,
    ServerError,
    Unreachable,
    refusal,
)

PATH = "/api/crawl"
TIMEOUT_SECONDS = 30.0
LONGEST_ANSWER = 64 * 1024 * 1024


class Wire:
    """Posts to one server with one token. Raises nothing but BotError."""

    def __init__(self, url: str, api_token: str, tls: ssl.SSLContext | None = None) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"url: {url!r} is not the address of a server, like http://127.0.0.1:8005")
        self.url = url
        self.is_secure = parts.scheme == "https"
        self.host, self.port = parts.hostname, _port(parts.netloc, url)
        self.prefix = parts.path.rstrip("/").removesuffix(PATH) + PATH
        self.tls = tls
        self.headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Authorization": f"Bearer {api_token}",
            "User-Agent": f"crawlspace-bot/{__version__}",
        }
        self.idle: deque[http.client.HTTPConnection] = deque()
        self.closings = 0

    def post(self, path: str, body: str, key: str | None = None, timeout: float = TIMEOUT_SECONDS) -> dict[str, Any]:
        """The answer's `data`."""
        headers = self.headers | ({"Idempotency-Key": key} if key else {})
        closings, connection = self.closings, self._connection(timeout)
        was_sent = False
        try:
            if connection.sock is None:
                connection.connect()
            was_sent = True
            connection.request("POST", f"{self.prefix}/{path}/", body.encode(), headers)
            answer = connection.getresponse()
            content = answer.read(LONGEST_ANSWER)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            reason = str(error) or type(error).__name__
            raise Unreachable(f"no answer from {self.url}: {reason}", was_sent) from error
        except BaseException:
            connection.close()
            raise
        self._keep(connection, answer, closings)
        return self._data(answer.status, answer.headers, content)

    def close(self) -> None:
        """Requests under way close their connections when they are answered."""
        self.closings += 1
        while self.idle:
            self.idle.pop().close()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        while self.idle:
            try:
                found = self.idle.pop()
            except IndexError:  # another thread was quicker
                break
            if found.sock is not None and not _has_ended(found.sock):
                found.sock.settimeout(timeout)
                return found
            found.close()
        if self.is_secure:
            context = self.tls or ssl.create_default_context()
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=context)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def _keep(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse, closings: int) -> None:
        if answer.isclosed() and not answer.will_close and closings == self.closings:
            self.idle.append(connection)
        else:
            connection.close()

    def _data(self, status: int, headers: HTTPMessage, content: bytes) -> dict[str, Any]:
        body = _object(content)
        if status in (409, 429):
            raise PutOff(f"{self.url} says wait: {_detail(body, status)}", _seconds(headers.get("Retry-After")))
        if status >= 500 or (status < 300 and "data" not in body):
            error = ServerError(f"{self.url} failed: {_detail(body, status)}")
            error.retry_after_seconds = _seconds(headers.get("Retry-After"))
            raise error
        if status >= 300:
            raise self._refusal(status, body)
        data: dict[str, Any] = body["data"]
        return data

    def _refusal(self, status: int, body: dict[str, Any]) -> Refused:
        if "error" not in body and status != 413:
            return Refused(f"{self.url}{PATH} answers {status}: is that the address of a Crawlspace server?", status)
        said = refusal(status, body)
        if isinstance(said, AuthenticationError):
            advice = "check the bot's id and token (BOT_ID, BOT_API_TOKEN)" if status == 401 else "ask its admin"
            return AuthenticationError(f"{self.url} does not accept this bot: {said}; {advice}", status, said.code)
        return said


def _port(netloc: str, url: str) -> int | None:
    try:
        return urlsplit(f"//{netloc}").port
    except ValueError:
        raise ConfigurationError(f"url: {url!r} has a port that is none") from None


def _has_ended(sock: Any) -> bool:
    """A server that closed the connection, or spoke unasked: either way it is of no use."""
    watch = select.poll()
    watch.register(sock, select.POLLIN)
    return bool(watch.poll(0))


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _detail(body: dict[str, Any], status: int) -> str:
    return str(body.get("detail") or body.get("error") or f"HTTP {status}")


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.strip().isdigit() else None
