"""One libcurl handle and what it takes in: an answer within limits, and in the end what it was.

Handles are used again and again. What stays the same from one request to the next (callbacks, headers, addresses,
time limits) is not set again: at tens of microseconds a page every call counts.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

import pycurl

from crawler.fetch.failures import BROKE_OFF, failure_of
from crawler.fetch.guard import Guard
from crawler.fetch.header_block import Head, final_head, parsed_headers
from crawler.fetch.origins import Origin
from crawler.fetch.outcome import Failure, FailureKind, Request, Response, Truncation

# libcurl stops by itself at 300 KB of headers for one answer, so memory is bounded while they come.
MAX_HEADER_BYTES = 128 * 1024
MAX_STATUS_LINE_BYTES = 8 * 1024
MAX_INTERIM_ANSWERS = 32
STOP = -1  # a callback that returns another size than it was given ends the transfer
HEAD, GET = "HEAD", "GET"

HeaderPairs = tuple[tuple[str, str], ...]


class Transfer:
    """Between `begin` and `outcome` it belongs to one request."""

    ticket: Any
    request: Request
    origin: Origin
    address: str
    room: int
    began_at: float

    def __init__(self, handle: Any, guard: Guard, on_new_socket: Callable[[int], None]) -> None:
        self.handle = handle
        self.guard = guard
        self.on_new_socket = on_new_socket
        self.opened: socket.socket | None = None
        self.header_lines: list[bytes] = []
        self.parts: list[bytes] = []
        self.stopped: Truncation | None = None
        self.refused: str | None = None
        # What the handle was last told.
        self.headers: HeaderPairs | None = None
        self.sent_lines = b""
        self.pins: list[str] = []
        self.proxy: str | None = None
        self.timeout_seconds = 0.0
        self.method = GET
        handle.transfer = self
        handle.setopt(pycurl.HEADERFUNCTION, self.header_lines.append)
        handle.setopt(pycurl.WRITEFUNCTION, self.take_body)
        handle.setopt(pycurl.OPENSOCKETFUNCTION, self.open_socket)
        handle.setopt(pycurl.SOCKOPTFUNCTION, self.take_over_socket)

    def begin(self, request: Request, ticket: Any, origin: Origin, pins: list[str]) -> None:
        self.request = request
        self.ticket = ticket
        self.origin = origin
        self.address = origin.address
        self.room = request.max_body_bytes
        handle = self.handle
        handle.setopt(pycurl.URL, request.url)
        if pins is not self.pins:
            handle.setopt(pycurl.RESOLVE, pins)
            self.pins = pins
        if request.timeout_seconds != self.timeout_seconds:
            handle.setopt(pycurl.TIMEOUT_MS, max(1, int(request.timeout_seconds * 1000)))
            self.timeout_seconds = request.timeout_seconds
        if request.proxy != self.proxy:
            handle.setopt(pycurl.PROXY, request.proxy or "")
            self.proxy = request.proxy
        if request.method != self.method:
            handle.setopt(pycurl.NOBODY if request.method == HEAD else pycurl.HTTPGET, 1)
            self.method = request.method
        self.began_at = monotonic()

    def send_headers(self, headers: HeaderPairs, lines: list[bytes]) -> None:
        self.handle.setopt(pycurl.HTTPHEADER, lines)
        self.headers = headers
        self.sent_lines = b"".join(line + b"\r\n" for line in lines)

    def take_body(self, part: bytes) -> int | None:
        if not self.parts and self.request.wants_body is not None and not self._is_wanted():
            self.stopped = Truncation.UNWANTED
            return STOP
        self.parts.append(part)
        self.room -= len(part)
        if self.room < 0:
            self.stopped = Truncation.LENGTH
            return STOP
        return None

    def _is_wanted(self) -> bool:
        """libcurl tells nothing about a transfer from within its callbacks, so the status is read from its line."""
        block = final_head(self.header_lines).block
        word = block[:64].split(maxsplit=2)[1:2]
        status = int(word[0]) if word and word[0].isdigit() else 0
        return self.request.wants_body is None or self.request.wants_body(status, parsed_headers(block))

    def open_socket(self, purpose: int, address: Any) -> Any:
        """The last word: whatever was resolved, and by whom, this is the address that would be connected to."""
        family, kind, protocol, place = address
        refused = self.guard.refusal(place[0]) if family in (socket.AF_INET, socket.AF_INET6) else "not an IP address"
        if refused:
            self.refused = refused
            return pycurl.SOCKET_BAD
        try:
            self.opened = socket.socket(family, kind, protocol)
        except OSError:  # no descriptors left, or a family that this machine lacks
            return pycurl.SOCKET_BAD
        return self.opened

    def take_over_socket(self, descriptor: int, purpose: int) -> int:
        """Comes right after `open_socket`. libcurl works with a duplicate, which no child process shall inherit."""
        if self.opened is not None:
            self.opened.close()
            self.opened = None
        os.set_inheritable(descriptor, False)
        self.on_new_socket(descriptor)
        return int(pycurl.SOCKOPT_OK)

    def outcome(self, code: int) -> Response | Failure:
        """What came of it. To be called once, when libcurl is done and before the handle leaves its multi handle."""
        seconds = monotonic() - self.began_at
        head = final_head(self.header_lines)
        parts, stopped, refused = self.parts, self.stopped, self.refused
        self.header_lines.clear()
        self.parts, self.stopped, self.refused = [], None, None
        if _is_too_much(head):
            return Failure(FailureKind.HEADERS, "more headers than we read", temporary=False, seconds=seconds)
        if code == pycurl.E_OK or stopped:
            return self._response(head.block, parts, seconds, stopped)
        if refused and code == pycurl.E_COULDNT_CONNECT:
            return Failure(FailureKind.GUARD, refused, temporary=False, seconds=seconds)
        if code in BROKE_OFF and self._is_worth_keeping(head, parts):
            return self._response(head.block, parts, seconds, Truncation.INCOMPLETE)
        came, proxy_failed = bool(head.block), self._proxy_failed(code)
        return failure_of(code, self.handle.errstr(), headers_came=came, proxy_failed=proxy_failed, seconds=seconds)

    def _proxy_failed(self, code: int) -> bool:
        """With a proxy the only connection we make is to it, and its answer to CONNECT is none of the server's."""
        if self.request.proxy is None:
            return False
        return bool(code == pycurl.E_COULDNT_CONNECT or self.handle.getinfo(pycurl.HTTP_CONNECTCODE) >= 300)

    def _is_worth_keeping(self, head: Head, parts: list[bytes]) -> bool:
        """Part of a body is, and so is a redirect whose body nobody would have read."""
        if not head.is_complete or self._status() < 200:
            return False
        return bool(parts) or b"\nlocation:" in head.block.lower()

    def _response(
        self, block: bytes, parts: list[bytes], seconds: float, truncated: Truncation | None
    ) -> Response | Failure:
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        if self.room < 0:
            body = body[: self.request.max_body_bytes]
        headers = parsed_headers(block)
        if "content-length" in headers and (ambiguity := self._ambiguity(headers, seconds)):
            return ambiguity
        handle = self.handle
        return Response(
            self.request.url,
            handle.getinfo(pycurl.RESPONSE_CODE),
            block,
            headers,
            body,
            handle.getinfo(pycurl.PRIMARY_IP),
            seconds,
            self._sent(),
            truncated,
            handle.getinfo(pycurl.STARTTRANSFER_TIME),
        )

    def _ambiguity(self, headers: Mapping[str, str], seconds: float) -> Failure | None:
        """RFC 9112 §6.3: two lengths that differ cannot be mended, and a length beside chunks ends the connection."""
        lengths = headers["content-length"]
        if "transfer-encoding" in headers:
            self._hang_up()
        if "," in lengths and len({length.strip() for length in lengths.split(",")}) > 1:
            self._hang_up()
            message = f"conflicting Content-Length: {lengths[:80]}"
            return Failure(FailureKind.PROTOCOL, message, temporary=False, seconds=seconds)
        return None

    def _hang_up(self) -> None:
        """libcurl would keep the connection for the next request; now it will find it dead."""
        descriptor = self.handle.getinfo(pycurl.ACTIVESOCKET)
        if descriptor < 0:
            return
        with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as same:
            same.shutdown(socket.SHUT_RDWR)

    def _sent(self) -> bytes:
        request = self.request
        target = request.url[self.origin.prefix_length :].partition("#")[0]
        if target[:1] != "/":
            target = f"/{target}"
        first_lines = f"{request.method} {target} HTTP/1.1\r\nHost: {self.origin.authority}\r\n"
        return first_lines.encode() + self.sent_lines

    def _status(self) -> int:
        return int(self.handle.getinfo(pycurl.RESPONSE_CODE))


def _is_too_much(head: Head) -> bool:
    if len(head.block) > MAX_STATUS_LINE_BYTES and head.block.find(b"\n", 0, MAX_STATUS_LINE_BYTES) < 0:
        return True
    return len(head.block) > MAX_HEADER_BYTES or head.interim > MAX_INTERIM_ANSWERS
