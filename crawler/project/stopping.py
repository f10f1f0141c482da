"""What a server's process does when it is asked to stop: those who wait for jobs are answered at once. They would hold
the server up for as long as it has patience, and then be cut off."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable

STOPS = (signal.SIGTERM, signal.SIGINT)
KEPT: list[socket.socket] = []  # a socket that nobody keeps is closed


def when_asked_to_stop(act: Callable[[], None]) -> None:
    """The handler of signals is the server's own. Python also writes their numbers to a socket, which we read. To be
    called in the main thread, once a process."""
    read_end, write_end = socket.socketpair()
    write_end.setblocking(False)
    signal.set_wakeup_fd(write_end.fileno(), warn_on_full_buffer=False)
    KEPT.extend([read_end, write_end])
    threading.Thread(target=_listen, args=(read_end, act), name="stop-watch", daemon=True).start()


def _listen(read_end: socket.socket, act: Callable[[], None]) -> None:
    while number := read_end.recv(1):
        if number[0] in STOPS:
            act()
