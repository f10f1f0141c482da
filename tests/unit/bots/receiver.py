"""Somebody who is told about changes: a small server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any


@dataclass
class Receiver:
    """Answers with `status`, and remembers what it got. While `gate` is closed it does not answer."""

    url: str = ""
    status: int = 200
    answer: bytes = b"thanks"
    location: str = ""
    gate: threading.Event = field(default_factory=threading.Event)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def messages(self) -> list[Any]:
        return [json.loads(body) for _, body in self.got]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    receiver.gate.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            receiver.gate.wait(30)
            self.send_response(receiver.status)
            if receiver.location:
                self.send_header("Location", receiver.location)
            self.send_header("Content-Length", str(len(receiver.answer)))
            self.end_headers()
            self.wfile.write(receiver.answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield receiver
    finally:
        receiver.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()


def allow_loopback(settings: Any) -> None:
    settings.CRAWLSPACE = replace(settings.CRAWLSPACE, fetch_allowed_networks=(ip_network("127.0.0.0/8"),))
