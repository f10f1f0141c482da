"""One browser process seen from outside: what it was given, what it said, and that it is gone for good."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from crawler.fetch.browser import system
from crawler.fetch.browser.messages import Garbled, Message, Unpacker, packed, packed_request
from crawler.fetch.browser.options import Options
from crawler.fetch.outcome import Request

RECEIVE_BYTES = 1 << 18
IMPORTABLE_FROM = Path(__file__).parents[3]
# Chromium need not know our settings, which may hold secrets.
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR")


class Given(NamedTuple):
    request: Request
    ticket: Any


class BrowserProcess:
    """Starting may raise OSError; neither it nor sending blocks.

    `messages` yields what came; `is_gone` tells when nothing more will.
    """

    def __init__(self, options: Options) -> None:
        self.pages: dict[int, Given] = {}
        self.pages_given = 0
        self.is_worn = False
        self.is_gone = False
        self.last_words = "the browser process ended"
        self.sessions: set[int] = set()
        self.folder = tempfile.mkdtemp(prefix="crawlspace-browser-")
        self.unsent = bytearray(packed(asdict(options)))
        self.unpacker = Unpacker()
        self.connection, other = socket.socketpair()
        self.connection.setblocking(False)
        try:
            with other:
                self.process = self._spawned(other.fileno())
        except OSError:
            self.connection.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.send()

    def _spawned(self, descriptor: int) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, (str(IMPORTABLE_FROM), os.environ.get("PYTHONPATH"))))
        own = {"HOME": self.folder, "TMPDIR": self.folder, "PYTHONPATH": path}
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        return subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "crawler.fetch.browser.child", str(descriptor), self.folder],
            env=kept | own,
            pass_fds=(descriptor,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None,  # ours: it speaks only of mistakes
            start_new_session=True,
        )

    def give(self, page: int, given: Given) -> None:
        self.pages[page] = given
        self.pages_given += 1
        self.send(packed_request(page, given.request))

    def send(self, message: bytes = b"") -> None:
        """What does not fit now is sent when the socket is writable."""
        self.unsent += message
        with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):  # if it died, reading will tell
            while self.unsent:
                del self.unsent[: self.connection.send(self.unsent)]

    def messages(self) -> Iterator[Message]:
        try:
            while piece := self.connection.recv(RECEIVE_BYTES):
                yield from self.unpacker.feed(piece)
        except BlockingIOError:
            return
        except (ConnectionResetError, Garbled):
            pass
        self.is_gone = True

    def let_go(self) -> None:
        """Tells it to end; `messages` will say when it did."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)

    def wait_until(self, until: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, until - monotonic()))

    def bury(self) -> None:
        """Makes sure that nothing of it is left: not the process, nor Chromium, nor their files."""
        self.connection.close()
        system.kill(system.descendants(self.process.pid))
        self.process.kill()
        self.process.wait()
        while found := system.in_sessions(self.sessions | {self.process.pid}):
            system.kill(found)
        shutil.rmtree(self.folder, ignore_errors=True)
