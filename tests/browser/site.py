"""A web site on one loopback address that remembers who asked for what, and a browser that visits it."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any

from crawler.fetch.browser import PageLimits, Renderer
from crawler.fetch.outcome import Failure, Request, Response

ALLOWED, FORBIDDEN = "127.0.0.2", "127.0.0.1"
PATIENCE_SECONDS = 60.0


class Answer:
    def __init__(self, body: str | bytes = b"", status: int = 200, **headers: str) -> None:
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = {"Content-Type": "text/html; charset=utf-8"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }


class Site:
    """Serves what `pages` holds by path. Every connection counts, also one that never becomes a request."""

    def __init__(self, address: str) -> None:
        self.pages: dict[str, Answer | Callable[[], Answer]] = {}
        self.asked: list[str] = []
        self.headers: dict[str, dict[str, str]] = {}
        self.connections = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                site.connections += 1
                super().setup()

            def do_GET(self) -> None:
                site._answer(self)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                site._answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer((address, 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://{address}:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append(handler.path)
        self.headers[handler.path] = {name.lower(): value for name, value in handler.headers.items()}
        found = self.pages.get(handler.path, Answer("nothing here", 404))
        answer = found() if callable(found) else found
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        try:
            handler.wfile.write(answer.body)
        except OSError:  # the browser had enough
            handler.close_connection = True

    def forget(self) -> None:
        self.pages.clear()
        self.asked.clear()
        self.headers.clear()
        self.connections = 0

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Listener:
    """A UDP port that remembers whether anything came."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((FORBIDDEN, 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]

    def heard(self) -> bool:
        return bool(select.select([self.socket], [], [], 0)[0])


class Visitor:
    """Renders pages and waits for them."""

    def __init__(self, allowed: str = f"{ALLOWED}/32", **options: Any) -> None:
        networks = [ip_network(text) for text in allowed.split()]
        self.renderer = Renderer(networks, user_agent="CrawlspaceTest/1.0", **options)

    def visit(self, url: str, timeout_seconds: float = 30.0, **options: Any) -> Response | Failure:
        self.renderer.start(Request(url, timeout_seconds=timeout_seconds, **options), url)
        return self.collect()[url]

    def page(self, url: str, **options: Any) -> Response:
        outcome = self.visit(url, **options)
        assert isinstance(outcome, Response), outcome
        return outcome

    def failure(self, url: str, **options: Any) -> Failure:
        outcome = self.visit(url, **options)
        assert isinstance(outcome, Failure), outcome
        return outcome

    def collect(self) -> dict[Any, Response | Failure]:
        """The outcomes of all pages under way."""
        found: dict[Any, Response | Failure] = {}
        while self.renderer.in_flight:
            readable, _, _ = select.select([self.renderer.descriptor], [], [], PATIENCE_SECONDS)
            assert readable, "the browser says nothing"
            found |= dict(self.renderer.finished())
        return found


@contextmanager
def visiting(**options: Any) -> Iterator[Visitor]:
    visitor = Visitor(**options)
    try:
        yield visitor
    finally:
        visitor.renderer.close()


def everything(**limits: Any) -> PageLimits:
    """Limits that let images and the like through."""
    return PageLimits(not_loaded=(), **limits)
