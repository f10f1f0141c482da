"""A shop on a loopback address: product pages of many kinds, and a log of who asked for what, from when to when."""

from __future__ import annotations

import gzip
import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import NamedTuple

PATIENCE_SECONDS = 30
HTML = "text/html; charset=utf-8"


class Answer(NamedTuple):
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = {"Content-Type": HTML}
    missing: int = 0  # bytes that the Content-Length promises and that never come


class Visit(NamedTuple):
    path: str
    began: float
    ended: float
    headers: dict[str, str]


def product(name: str, price: str, currency: str = "EUR", stock: str = "InStock") -> str:
    offer = {"@type": "Offer", "price": price, "priceCurrency": currency, "availability": f"https://schema.org/{stock}"}
    data = {"@context": "https://schema.org", "@type": "Product", "name": name, "offers": offer}
    return f'<title>{name}</title><script type="application/ld+json">{json.dumps(data, ensure_ascii=False)}</script>'


class Shop:
    """`answers` are its pages by path; a path in `held` is answered only after `let_go`."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.answers: dict[str, Answer] = {}
        self.held: set[str] = set()
        self.visits: list[Visit] = []
        self.asked: list[str] = []  # also what is not answered yet
        self._open = threading.Event()
        self._news = threading.Condition()
        self.server = ThreadingHTTPServer((address, 0), _handler(self))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path: str) -> str:
        host, port = self.server.server_address[:2]
        return f"http://{host!s}:{port}{path}"

    def sells(self, path: str, price: str, currency: str = "EUR", stock: str = "InStock") -> str:
        """A page for it; its URL."""
        name = path.strip("/").replace("-", " ").capitalize()
        self.answers[path] = Answer(product(name, price, currency, stock).encode())
        return self.url(path)

    def forbids(self, *lines: str) -> None:
        self.answers["/robots.txt"] = Answer("\n".join(lines).encode(), headers={"Content-Type": "text/plain"})

    def answer(self, path: str) -> Answer:
        with self._news:
            self.asked.append(path)
            self._news.notify_all()
        if path in self.held:
            self._open.wait(PATIENCE_SECONDS)
        return self.answers.get(path, Answer(b"nothing here", 404))

    def let_go(self) -> None:
        self._open.set()

    def wait_until_asked(self, path: str) -> None:
        with self._news:
            assert self._news.wait_for(lambda: path in self.asked, PATIENCE_SECONDS), self.asked

    def pages_asked(self) -> list[str]:
        return [path for path in self.asked if path != "/robots.txt"]

    def gaps(self) -> list[float]:
        """Seconds from the end of a visit to the beginning of the next; below nothing, two were there at once."""
        in_order = sorted(self.visits, key=lambda visit: visit.began)
        return [after.began - before.ended for before, after in pairwise(in_order)]

    def close(self) -> None:
        self.let_go()
        self.server.shutdown()
        self.server.server_close()


def _handler(shop: Shop) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            with suppress(ConnectionError):  # whoever asked hung up
                super().handle()

        def do_GET(self) -> None:
            began = time.monotonic()
            answer = shop.answer(self.path)
            # Before the answer goes out: whoever asked cannot come again earlier.
            shop.visits.append(Visit(self.path, began, time.monotonic(), dict(self.headers)))
            with suppress(ConnectionError):  # whoever asked is gone
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body) + answer.missing))
                self.end_headers()
                self.wfile.write(answer.body)
            self.close_connection = bool(answer.missing)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def zipped(page: str) -> Answer:
    return Answer(gzip.compress(page.encode()), headers={"Content-Type": HTML, "Content-Encoding": "gzip"})


def leads_to(target: str, status: int = 302) -> Answer:
    return Answer(status=status, headers={"Location": target})
