"""How a browser process ends: for sure, and with everything it started."""

from __future__ import annotations

import os
import select
import shutil
import socket
import threading
from time import monotonic

from crawler.fetch.browser import system

STUCK_SECONDS = 30.0


class Lifeline(threading.Thread):
    """Ends the process when the other side of the socket is gone, or when nobody called `beat` for too long."""

    def __init__(self, connection: socket.socket, folder: str) -> None:
        super().__init__(name="lifeline", daemon=True)
        self.connection = connection
        self.folder = folder
        self.sessions: set[int] = set()  # those of Chromium, once it runs
        self.last_beat = monotonic()

    def beat(self) -> None:
        self.last_beat = monotonic()

    def run(self) -> None:
        poller = select.poll()
        poller.register(self.connection, select.POLLRDHUP)
        while not poller.poll(1000) and monotonic() - self.last_beat < STUCK_SECONDS:
            pass
        self.end()

    def end(self) -> None:
        """Never returns. Nothing is saved: a browser's profile lives as long as the browser."""
        while found := system.descendants(os.getpid()) + system.in_sessions(self.sessions):
            system.kill(found)
        shutil.rmtree(self.folder, ignore_errors=True)
        os._exit(0)
