"""The client's HTTP against a server that says what it is told to."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import trustme

from crawler.integrations.client import (
    AuthenticationError,
    Bot,
    ConfigurationError,
    InvalidRequest,
    PutOff,
    Refused,
    ServerError,
    TooLarge,
    Unreachable,
)
from crawler.integrations.client.wire import Wire

Reply = tuple[int, dict[str, str], bytes]
GOOD: Reply = (200, {}, b'{"success": true, "data": {"jobs": []}}')


class Told:
    """Answers every request with `reply`."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.reply = GOOD
        self.meanwhile: Callable[[], None] = lambda: None
        self.asked: list[tuple[int, str, dict[str, str], Any]] = []
        told = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                told.asked.append((self.client_address[1], self.path, dict(self.headers), body))
                told.meanwhile()
                status, headers, content = told.reply
                if status == 0:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(content))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.port = self.server.server_address[1]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def told() -> Iterator[Told]:
    made = Told()
    yield made
    made.close()


@pytest.fixture
def wire(told: Told) -> Iterator[Wire]:
    made = Wire(f"http://127.0.0.1:{told.port}/under/", "bot_t")
    yield made
    made.close()


def test_connections_are_kept_and_the_prefix_too(told: Told, wire: Wire) -> None:
    assert wire.post("pull", '{"a": 1}', key="k1") == {"jobs": []}
    assert wire.post("submit/batch", "{}") == {"jobs": []}
    (port, path, headers, body), (other_port, other_path, other_headers, _) = told.asked
    assert (path, other_path) == ("/under/api/crawl/pull/", "/under/api/crawl/submit/batch/")
    assert port == other_port
    assert headers["Authorization"] == "Bearer bot_t" and headers["Idempotency-Key"] == "k1" and body == {"a": 1}
    assert "Idempotency-Key" not in other_headers


def test_a_connection_that_the_server_closed_is_not_used_again(told: Told, wire: Wire) -> None:
    told.reply = (200, {"Connection": "close"}, GOOD[2])
    wire.post("pull", "{}")
    wire.post("pull", "{}")
    assert len({port for port, *_ in told.asked}) == 2


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        ((0, {}, b""), Unreachable, "no answer from"),
        ((500, {}, b'{"error": "internal_error", "detail": "oh"}'), ServerError, "failed: oh"),
        ((502, {}, b"<html>"), ServerError, "HTTP 502"),
        ((200, {}, b"<html>a login page"), ServerError, "HTTP 200"),
        ((429, {"Retry-After": "3"}, b'{"error": "rate_limited", "detail": "slow"}'), PutOff, "says wait: slow"),
        ((409, {}, b'{"error": "conflict", "detail": "runs"}'), PutOff, "says wait: runs"),
        (
            (401, {}, b'{"error": "authentication_error", "detail": "who?"}'),
            AuthenticationError,
            r"who\?; check the bot",
        ),
        ((403, {}, b'{"error": "authentication_error", "detail": "off"}'), AuthenticationError, "off; ask its admin"),
        ((400, {}, b'{"error": "validation_error", "detail": {"a": ["b", "c"]}}'), InvalidRequest, "a: b c"),
        ((413, {}, b"<html>nginx"), TooLarge, "HTTP 413"),
        ((404, {}, b"<html>"), Refused, "is that the address of a Crawlspace server"),
        ((301, {"Location": "/x"}, b""), Refused, "answers 301"),
    ],
)
def test_every_answer_has_its_exception(
    told: Told, wire: Wire, reply: Reply, kind: type[Exception], message: str
) -> None:
    told.reply = reply
    with pytest.raises(kind, match=message) as caught:
        wire.post("pull", "{}")
    assert type(caught.value) is kind
    if isinstance(caught.value, PutOff) and reply[0] == 429:
        assert caught.value.retry_after_seconds == 3
    if isinstance(caught.value, Unreachable):
        assert caught.value.was_sent


def test_nobody_there(told: Told) -> None:
    told.close()
    with pytest.raises(Unreachable) as caught:
        Wire(f"http://127.0.0.1:{told.port}", "t").post("pull", "{}")
    assert not caught.value.was_sent


def test_over_tls() -> None:
    authority = trustme.CA()
    theirs, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(theirs)
    authority.configure_trust(ours)
    told = Told(theirs)
    with Bot(f"https://127.0.0.1:{told.port}", "bot-001", "t", tls=ours) as bot:
        assert bot.pull() == []
        assert bot.pull() == []
    assert len({port for port, *_ in told.asked}) == 1
    told.close()


def test_what_a_bot_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CRAWLER_URL", "BOT_ID", "BOT_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="BOT_API_TOKEN"):
        Bot()
    with pytest.raises(ConfigurationError, match="is not the address of a server"):
        Bot("ftp://example.com", api_token="t")
    monkeypatch.setenv("CRAWLER_URL", "https://crawler.example/api/crawl/")
    monkeypatch.setenv("BOT_ID", "bot-7")
    monkeypatch.setenv("BOT_API_TOKEN", "secret")
    bot = Bot()
    assert (bot.url, bot.bot_id, bot._wire.prefix) == ("https://crawler.example/api/crawl/", "bot-7", "/api/crawl")
    assert "secret" not in repr(bot)
    with pytest.raises(ConfigurationError, match="at least 1"):
        bot.run(lambda job: pytest.fail("never"), workers=0)


def test_verbs_are_patient(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        told.reply = GOOD if len(pauses) == 2 else told.reply

    monkeypatch.setattr("crawler.integrations.client.bot.time.sleep", sleep)
    told.reply = (503, {}, b"{}")
    with Bot(f"http://127.0.0.1:{told.port}", api_token="t") as bot:
        assert bot.pull() == []
    keys = {headers["Idempotency-Key"] for _, _, headers, _ in told.asked}
    assert len(told.asked) == 3 and len(keys) == 1, "the same request, however often"
    told.reply = (503, {}, b"{}")
    with Bot(f"http://127.0.0.1:{told.port}", api_token="t", patience_seconds=0) as hasty, pytest.raises(ServerError):
        hasty.pull()


def test_what_is_answered_after_closing_is_not_kept_open(told: Told) -> None:
    wire = Wire(f"http://127.0.0.1:{told.port}", "t")
    told.meanwhile = wire.close
    wire.post("pull", "{}")
    assert not wire.idle
    told.meanwhile = lambda: None
    wire.post("pull", "{}")
    assert len(wire.idle) == 1, "it may be used again"
    wire.close()
