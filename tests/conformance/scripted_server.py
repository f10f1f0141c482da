"""A loopback server that plays scripts: raw bytes, pauses and ways to hang up, by request path.

Steps are those of the nasty-server cases: `send_b64`, `repeat_b64` with `times`, `sleep_s`, `file` with `headers`,
`close` (fin or rst), `hang`. Pauses are shortened by `pace`, and end at once when the server is closed. After a script
without `close` the connection serves the next request. `/good` is a page that always works.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.sockets import read_head, shut

GOOD_BODY = b"<html><body>good</body></html>"
GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(GOOD_BODY), GOOD_BODY)
RESET_ON_CLOSE = struct.pack("ii", 1, 0)

Step = dict[str, Any]
Script = list[Step]


class Ended(Exception):
    """The script has closed the connection, or there is nobody to talk to any more."""


class ScriptedServer:
    """`serve` one script under a path; `url(path)` is where to ask for it. With a `tls` context it speaks TLS."""

    def __init__(
        self,
        *,
        pace: float = 0.05,
        files: Path | None = None,
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        self.pace = pace
        self.files = files
        self.tls = tls
        self.scripts: dict[str, Script] = {}
        self.connections = 0
        self.requests: list[bytes] = []
        self.stopping = threading.Event()
        self.listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.port: int = self.listener.getsockname()[1]
        self.open: set[socket.socket] = set()
        self.threads: list[threading.Thread] = []
        self._run(self._accept)

    def serve(self, path: str, script: Script) -> str:
        self.scripts[path] = script
        return self.url(path)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}{path}"

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        shut(self.listener)
        for each in list(self.open):
            shut(each)
        for thread in self.threads:
            thread.join(5)
        self.listener.close()

    def _run(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            if self.tls:
                accepted = self.tls.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)
            self.open.add(accepted)
            self._run(self._talk, accepted)

    def _talk(self, connection: socket.socket) -> None:
        try:
            if isinstance(connection, ssl.SSLSocket):
                connection.do_handshake()
            while request := read_head(connection):
                self.requests.append(request)
                self._play(connection, request.split(b" ", 2)[1].decode())
        except (OSError, Ended):
            pass
        finally:
            self.open.discard(connection)
            connection.close()

    def _play(self, connection: socket.socket, path: str) -> None:
        if path == "/good":
            connection.sendall(GOOD)
            return
        for step in self.scripts[path]:
            self._step(connection, step)

    def _step(self, connection: socket.socket, step: Step) -> None:
        match step:
            case {"send_b64": text}:
                connection.sendall(b64decode(text))
            case {"send": data}:
                connection.sendall(data)
            case {"repeat_b64": text, "times": times}:
                connection.sendall(b64decode(text) * times)
            case {"sleep_s": seconds}:
                self.stopping.wait(seconds * self.pace)
            case {"file": name, "headers": headers} if self.files:
                body = (self.files / name).read_bytes()
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n" % (headers.encode(), len(body))
                )
                connection.sendall(body)
            case {"hang": True}:
                self.stopping.wait(30)
                raise Ended
            case {"close": how}:
                if how == "rst":
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                raise Ended
            case _:
                raise AssertionError(f"unknown step: {step}")
