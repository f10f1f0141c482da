"""libcurl's multi handle driven by an epoll of our own: begins transfers, waits, tells which are done.

Nothing here knows what is transferred. libcurl tells which sockets and which timer it waits for, we tell it what
happened. A connection stays registered between two requests, for most are used again at once; that its number means
another socket now is learnt from `on_new_socket`, which must be called for every socket libcurl opens.
"""

from __future__ import annotations

import resource
import select
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

import pycurl

LONGEST_WAIT_SECONDS = 60.0
DESCRIPTORS_FOR_OTHERS = 256  # files, databases, look-ups

READABLE, WRITABLE = select.EPOLLIN, select.EPOLLOUT
INTEREST = {pycurl.POLL_IN: READABLE, pycurl.POLL_OUT: WRITABLE, pycurl.POLL_INOUT: READABLE | WRITABLE}


class Multi:
    """`on_done` is called with a handle and libcurl's code, out of `begin` or `turn`; it must call `remove`."""

    def __init__(self, max_connections: int, on_done: Callable[[Any, int], None]) -> None:
        self.on_done = on_done
        self._running = 0
        self._timer_at: float | None = None
        self._interest: dict[int, int] = {}  # what epoll watches libcurl's sockets for
        self._wanted: set[int] = set()  # those that libcurl waits for; the others are connections kept alive
        self._epoll = select.epoll()
        self._curl = pycurl.CurlMulti()
        self._curl.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._curl.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        affordable = affordable_connections(max_connections)
        self._curl.setopt(pycurl.M_MAXCONNECTS, affordable)
        self._curl.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, affordable)

    def begin(self, handle: Any) -> None:
        """Sends the request now rather than at the next `turn`: its answer may come while the caller is busy."""
        self._running += 1
        self._curl.add_handle(handle)
        self._act(pycurl.SOCKET_TIMEOUT, 0)

    def remove(self, handle: Any) -> None:
        self._running -= 1
        self._curl.remove_handle(handle)

    def watch(self, descriptor: int) -> None:
        """`turn` tells when it is readable."""
        self.on_new_socket(descriptor)  # its number may have been a connection's
        self._epoll.register(descriptor, READABLE)

    def unwatch(self, descriptor: int) -> None:
        with suppress(OSError):  # closed already
            self._epoll.unregister(descriptor)

    def turn(self, timeout_seconds: float) -> list[int]:
        """Waits until something happens, acts on it, and returns the watched descriptors that are readable."""
        readable = []
        for descriptor, event in self._epoll.poll(self._patience(timeout_seconds)):
            if descriptor in self._wanted:
                # Errors and hang-ups count as readable: reading tells libcurl what happened.
                what = pycurl.CSELECT_OUT if event & WRITABLE else 0
                self._act(descriptor, what | pycurl.CSELECT_IN if event & ~WRITABLE else what)
            elif descriptor in self._interest:
                self._forget(descriptor)  # a connection kept alive was closed: libcurl sees that when it needs it
            else:
                readable.append(descriptor)
        if self._timer_at is not None and self._timer_at <= monotonic():
            self._timer_at = None
            self._act(pycurl.SOCKET_TIMEOUT, 0)
        return readable

    def close(self) -> None:
        self._curl.close()
        self._epoll.close()

    def on_new_socket(self, descriptor: int) -> None:
        """epoll forgot the socket of this number when it was closed; so do we."""
        self._interest.pop(descriptor, None)
        self._wanted.discard(descriptor)

    def _patience(self, timeout_seconds: float) -> float:
        seconds = min(timeout_seconds, LONGEST_WAIT_SECONDS)
        if self._timer_at is not None:
            seconds = min(seconds, self._timer_at - monotonic())
        return max(seconds, 0.0)

    def _act(self, descriptor: int, what: int) -> None:
        _, running = self._curl.socket_action(descriptor, what)
        if running >= self._running:
            return
        more = 1
        while more:
            more, good, bad = self._curl.info_read()
            for handle in good:
                self.on_done(handle, pycurl.E_OK)
            for handle, code, _ in bad:
                self.on_done(handle, code)

    def _on_timer(self, milliseconds: int) -> None:
        self._timer_at = None if milliseconds < 0 else monotonic() + milliseconds / 1000

    def _on_socket(self, what: int, descriptor: int, multi: Any, data: Any) -> None:
        if what == pycurl.POLL_REMOVE:
            self._wanted.discard(descriptor)
            return
        interest = INTEREST.get(what, 0)
        self._wanted.add(descriptor)
        before = self._interest.get(descriptor)
        if before is None:
            self._epoll.register(descriptor, interest)
        elif before != interest:
            self._epoll.modify(descriptor, interest)
        self._interest[descriptor] = interest

    def _forget(self, descriptor: int) -> None:
        del self._interest[descriptor]
        self.unwatch(descriptor)


def affordable_connections(wanted: int) -> int:
    """So many as the process may have open, after asking the system for what it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + DESCRIPTORS_FOR_OTHERS
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(1, min(wanted, soft - DESCRIPTORS_FOR_OTHERS))
    return wanted
