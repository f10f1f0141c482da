"""What every raw loopback server of the tests needs."""

from __future__ import annotations

import socket


def read_head(connection: socket.socket) -> bytes:
    """One request up to the end of its headers; nothing when the client went away."""
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65536)
        if not part:
            return b""
        received += part
    return received


def shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        connection.close()
