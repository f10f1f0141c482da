"""What the two processes say to each other: a JSON object and some bytes, each with its length before it.

engine to browser    options, once; then pages, each with its request; whether a page's body is wanted
browser to engine    ready, once; is a page's body wanted; each page's outcome;
                     worn, when it should be replaced; broken, before it ends
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from crawler.fetch.header_block import parsed_headers
from crawler.fetch.outcome import Failure, FailureKind, Request, Response, Truncation

LENGTHS = struct.Struct("!II")
MAX_FIELDS_BYTES = 4 * 1024 * 1024
MAX_BODY_BYTES = 1024 * 1024 * 1024
OF_RESPONSE = ("url", "status", "address", "seconds", "first_byte_seconds", "truncated")
OF_FAILURE = ("kind", "message", "temporary", "seconds")


class Message(NamedTuple):
    fields: dict[str, Any]
    body: bytes = b""


class Garbled(Exception):
    """What came is no message."""


def packed(fields: dict[str, Any], body: bytes = b"") -> bytes:
    text = json.dumps(fields).encode()
    return LENGTHS.pack(len(text), len(body)) + text + body


class Unpacker:
    """Turns received pieces into messages."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def feed(self, piece: bytes) -> Iterator[Message]:
        self.buffer += piece
        while len(self.buffer) >= LENGTHS.size:
            fields_size, body_size = LENGTHS.unpack_from(self.buffer)
            if fields_size > MAX_FIELDS_BYTES or body_size > MAX_BODY_BYTES:
                raise Garbled(f"a message of {fields_size} and {body_size} bytes")
            begin, end = LENGTHS.size + fields_size, LENGTHS.size + fields_size + body_size
            if len(self.buffer) < end:
                return
            message = Message(fields_of(bytes(self.buffer[LENGTHS.size : begin])), bytes(self.buffer[begin:end]))
            del self.buffer[:end]
            yield message


def fields_of(text: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise Garbled(str(error)) from None
    if not isinstance(fields, dict):
        raise Garbled("not an object")
    return fields


def packed_request(page: int, request: Request) -> bytes:
    return packed(
        {
            "page": page,
            "url": request.url,
            "headers": request.headers,
            "timeout_seconds": request.timeout_seconds,
            "max_body_bytes": request.max_body_bytes,
            "proxy": request.proxy,
            "asks": request.wants_body is not None,
        }
    )


def request_of(fields: dict[str, Any]) -> Request:
    return Request(
        url=fields["url"],
        headers=tuple((name, value) for name, value in fields["headers"]),
        timeout_seconds=fields["timeout_seconds"],
        max_body_bytes=fields["max_body_bytes"],
        proxy=fields["proxy"],
    )


def packed_outcome(page: int, outcome: Response | Failure) -> bytes:
    if isinstance(outcome, Failure):
        return packed({"page": page, "failure": {name: getattr(outcome, name) for name in OF_FAILURE}})
    fields = {name: getattr(outcome, name) for name in OF_RESPONSE}
    head = outcome.header_block.decode("latin-1")
    return packed({"page": page, "response": fields | {"head": head}}, outcome.body)


def outcome_of(message: Message) -> Response | Failure:
    if failed := message.fields.get("failure"):
        return Failure(**failed | {"kind": FailureKind(failed["kind"])})
    fields = dict(message.fields["response"])
    block = fields.pop("head").encode("latin-1")
    cause = fields.pop("truncated")
    headers = parsed_headers(block)
    return Response(
        header_block=block, headers=headers, body=message.body, truncated=Truncation(cause) if cause else None, **fields
    )
