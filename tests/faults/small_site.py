"""A small web site on a loopback address: pages that link to each other, and a log of who asked for what and when."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATIENCE_SECONDS = 30


class SmallSite:
    """`/` links to `pages` pages `/1`, `/2`, …, each of which links to the next. `answers` overrides by path."""

    def __init__(self, pages: int = 10, address: str = "127.0.0.1", seconds_per_page: float = 0.0) -> None:
        self.pages = pages
        self.seconds_per_page = seconds_per_page
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {"/robots.txt": (404, {}, b"")}
        self.asked: list[tuple[float, str]] = []
        self._news = threading.Condition()
        self.server = ThreadingHTTPServer((address, 0), _handler(self))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        host, port = self.server.server_address[:2]
        return f"http://{host!s}:{port}/"

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        with self._news:
            self.asked.append((time.monotonic(), path))
            self._news.notify_all()
        if path in self.answers:
            return self.answers[path]
        time.sleep(self.seconds_per_page)
        number = int(path[1:] or 0) if path[1:].isdigit() or path == "/" else -1
        if not 0 <= number <= self.pages:
            return 404, {}, b"nothing here"
        targets = range(1, self.pages + 1) if number == 0 else [number % self.pages + 1]
        links = "".join(f'<a href="/{target}">page {target}</a> ' for target in targets)
        return 200, {"Content-Type": "text/html"}, f"<title>{number}</title>{links}".encode()

    def wait_until_asked(self, times: int) -> None:
        with self._news:
            assert self._news.wait_for(lambda: len(self.asked) >= times, PATIENCE_SECONDS), self.asked

    def counts(self) -> Counter[str]:
        """How often each page was asked for."""
        return Counter(path for _, path in self.asked if path != "/robots.txt")

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def _handler(site: SmallSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = site.answer(self.path)
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            with suppress(ConnectionError):  # whoever asked was killed meanwhile
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
