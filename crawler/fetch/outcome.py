"""What is asked and what came of it: a response, or a failure with its kind. Values, not exceptions.

Kinds of failure, what they mean, and whom they speak against:

    URL         nothing that could be fetched              the URL; never retried
    GUARD       the address is not ours to reach           the URL; never retried
    DNS         the name has no address                    the host; temporary or not, as the resolver says
    CONNECT     nobody answered at the address             the host; temporary
    TLS         certificate or handshake                   the host; not temporary
    TIMEOUT     the whole took too long, or it stalled     the host; temporary
    PROTOCOL    what came is not HTTP                      the URL; not temporary
    INCOMPLETE  the answer broke off before its body       the URL; temporary
    HEADERS     more header bytes than we read             the URL; not temporary
    PROXY       the proxy refused or failed                nobody; temporary
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote_from_bytes

MAX_BODY_BYTES = 10 * 1024 * 1024
TIMEOUT_SECONDS = 30.0


class FailureKind(StrEnum):
    URL = "url"
    GUARD = "guard"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    INCOMPLETE = "incomplete"
    HEADERS = "headers"
    PROXY = "proxy"


HOSTS_FAULT = frozenset({FailureKind.DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.TIMEOUT})


@dataclass(frozen=True, slots=True)
class Failure:
    kind: FailureKind
    message: str
    temporary: bool
    seconds: float = 0.0

    @property
    def is_hosts_fault(self) -> bool:
        """True when it says that the host is down rather than that this URL is odd: then politeness backs off."""
        return self.kind in HOSTS_FAULT


class Truncation(StrEnum):
    """Why a response's body is not the whole."""

    LENGTH = "length"  # longer than we read
    INCOMPLETE = "incomplete"  # the server broke off
    UNWANTED = "unwanted"  # `Request.wants_body` said no: nothing was read


# Status and headers of an answer whose body is about to come.
WantsBody = Callable[[int, Mapping[str, str]], bool]


@dataclass(frozen=True, slots=True)
class Request:
    """A GET or HEAD. The URL is absolute, ASCII, percent-encoded: what `crawler.web.urls` makes."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    timeout_seconds: float = TIMEOUT_SECONDS
    max_body_bytes: int = MAX_BODY_BYTES
    proxy: str | None = None
    method: str = "GET"
    wants_body: WantsBody | None = None


@dataclass(slots=True)
class Response:
    """One answer, as it came over the wire. Redirects are answers too: nobody follows them here.

    Treat it as frozen; it is not declared so because setting frozen fields costs a microsecond for every page.
    """

    url: str
    status: int
    header_block: bytes  # status line and headers as received, without the empty line at the end
    headers: Mapping[str, str] = field(repr=False)  # lower-case names; repeated ones joined by ", "; Latin-1, no NUL
    body: bytes = field(repr=False)  # as sent: still content-encoded
    address: str = ""
    seconds: float = 0.0  # from the request to the last byte
    sent: bytes = field(default=b"", repr=False)  # our request's header block, for the archive
    truncated: Truncation | None = None
    first_byte_seconds: float = 0.0

    @property
    def location(self) -> str | None:
        """The Location header with bytes beyond ASCII percent-encoded as they came, whatever charset was meant."""
        value = self.headers.get("location")
        if value is None or value.isascii():
            return value
        return quote_from_bytes(value.encode("latin-1"), safe="".join(map(chr, range(0x21, 0x7F))))
