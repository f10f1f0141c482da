"""What is made of a main document's answer: is it a page at all, how it is reported, what an error means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from http import HTTPStatus

from crawler.fetch.outcome import Failure, FailureKind

REDIRECTS = frozenset({301, 302, 303, 307, 308})
WITHOUT_BODY = frozenset({204, 205, 304})
# Chromium would ask a person for a password, and shows nothing when there is none.
ASKS_WHO = frozenset({401, 407})
PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
# True of the bytes that came, not of what we hand on.
OF_THE_TRANSFER = frozenset({"content-encoding", "content-length", "transfer-encoding"})

Headers = list[tuple[str, str]]


class Kind(StrEnum):
    HEAD = "head"  # nothing to render: a redirect, or an answer without a body
    FILE = "file"  # handed on as it came
    PAGE = "page"


def kind_of(status: int, headers: Headers) -> Kind:
    if status in WITHOUT_BODY or (status in REDIRECTS and value_of(headers, "location")):
        return Kind.HEAD
    media_type = value_of(headers, "content-type").partition(";")[0].strip().lower()
    attached = value_of(headers, "content-disposition").strip().lower().startswith("attachment")
    return Kind.FILE if attached or status in ASKS_WHO or media_type not in PAGE_TYPES else Kind.PAGE


def value_of(headers: Headers, wanted: str) -> str:
    return next((value for name, value in headers if name.lower() == wanted), "")


def without_transfer(headers: Headers) -> Headers:
    return [(name, value) for name, value in headers if name.lower() not in OF_THE_TRANSFER]


def as_page(headers: Headers, moves_to: str | None) -> Headers:
    """The headers of what we serialised. A script that would leave for elsewhere is told as a Refresh."""
    kept = [(name, value) for name, value in without_transfer(headers) if name.lower() != "content-type"]
    moved = [("Refresh", f"0; url={moves_to}")] if moves_to else []
    return [*kept, ("Content-Type", "text/html; charset=utf-8"), *moved]


def header_block(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {one_line(value)}" for name, value in headers)]
    return "\r\n".join(lines).encode("utf-8", "replace")


def one_line(value: str) -> str:
    """Chromium joins some repeated headers by line ends."""
    return ", ".join(value.split("\n")).replace("\r", "").replace("\0", "")


KIND_BY_ERROR = (
    (re.compile(r"ERR_(CERT|SSL)"), FailureKind.TLS),
    (re.compile(r"ERR_RESPONSE_HEADERS_TOO_BIG"), FailureKind.HEADERS),
    (re.compile(r"ERR_(CONTENT_DECODING|INCOMPLETE_CHUNKED|CONTENT_LENGTH_MISMATCH)"), FailureKind.INCOMPLETE),
    (re.compile(r"ERR_(CONNECTION_)?TIMED_OUT"), FailureKind.TIMEOUT),
    (re.compile(r"ERR_(CONNECTION|EMPTY_RESPONSE|ADDRESS|SOCKET|NETWORK|TUNNEL|PROXY|INTERNET)"), FailureKind.CONNECT),
    (re.compile(r"ERR_(UNSAFE_PORT|INVALID_URL|UNKNOWN_URL|DISALLOWED_URL|BLOCKED)"), FailureKind.URL),
)
TEMPORARY = frozenset({FailureKind.CONNECT, FailureKind.TIMEOUT, FailureKind.INCOMPLETE})


def failure_of(message: str, seconds: float) -> Failure:
    """From what Playwright says, such as "Page.goto: net::ERR_CERT_DATE_INVALID at https://…"."""
    first_line = message.partition("\n")[0][:500]
    kind = next((kind for pattern, kind in KIND_BY_ERROR if pattern.search(first_line)), FailureKind.PROTOCOL)
    return Failure(kind, first_line, temporary=kind in TEMPORARY, seconds=seconds)
