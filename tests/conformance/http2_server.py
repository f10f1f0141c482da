"""An HTTP/2 server over TLS that misbehaves as told, one way for each connection in turn; the last way stays."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable
from types import TracebackType

import trustme
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import RequestReceived
from h2.exceptions import ProtocolError

from tests.conformance.tls_servers import HOST, server_context

BODY = b"<html>second to none</html>"
DATA_FRAME, PUSH_PROMISE_FRAME, END_HEADERS = 0, 5, 4

# Answers one request on a connection: what it does to the protocol's state, and raw bytes to send behind.
Way = Callable[[H2Connection, int], bytes]


def good(connection: H2Connection, stream: int) -> bytes:
    connection.send_headers(stream, [(":status", "200"), ("content-type", "text/html")])
    connection.send_data(stream, BODY, end_stream=True)
    return b""


def reset(connection: H2Connection, stream: int) -> bytes:
    connection.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
    return b""


def reset_after_data(connection: H2Connection, stream: int) -> bytes:
    connection.send_headers(stream, [(":status", "200")])
    connection.send_data(stream, BODY)
    connection.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
    return b""


def go_away(connection: H2Connection, stream: int) -> bytes:
    """Says that this request was not looked at."""
    connection.close_connection(last_stream_id=0)
    return b""


def oversize_frame(connection: H2Connection, stream: int) -> bytes:
    connection.send_headers(stream, [(":status", "200")])
    return frame(DATA_FRAME, 0, stream, bytes(1 << 20))


def push(connection: H2Connection, stream: int) -> bytes:
    """Although we say that we take none."""
    block = connection.encoder.encode([(":method", "GET"), (":path", "/x"), (":scheme", "https"), (":authority", HOST)])
    return frame(PUSH_PROMISE_FRAME, END_HEADERS, stream, struct.pack(">I", 2) + block)


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Http2Server:
    def __init__(self, authority: trustme.CA, *ways: Way) -> None:
        self.ways = ways
        self.connections = 0
        self.context = server_context(authority.issue_cert(HOST))
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://{HOST}:{self.listener.getsockname()[1]}/"
        self.open: list[socket.socket] = []
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()

    def __enter__(self) -> Http2Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in [self.listener, *self.open]:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in list(self.threads):
            thread.join(5)
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return
            connection = self.context.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)
            way = self.ways[min(self.connections, len(self.ways) - 1)]
            self.connections += 1
            self.open.append(connection)
            self.threads.append(threading.Thread(target=self._talk, args=(connection, way), daemon=True))
            self.threads[-1].start()

    def _talk(self, connection: ssl.SSLSocket, way: Way) -> None:
        with connection:
            try:
                connection.do_handshake()
                self._speak(connection, way)
            except (OSError, ProtocolError):  # the client has gone, or answers what we broke
                return

    def _speak(self, connection: ssl.SSLSocket, way: Way) -> None:
        protocol = H2Connection(H2Configuration(client_side=False))
        protocol.initiate_connection()
        connection.sendall(protocol.data_to_send())
        while received := connection.recv(65536):
            raw = b""
            for event in protocol.receive_data(received):
                if isinstance(event, RequestReceived) and event.stream_id is not None:
                    raw += way(protocol, event.stream_id)
            connection.sendall(protocol.data_to_send() + raw)
