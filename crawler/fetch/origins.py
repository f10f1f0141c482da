"""The server a URL names: scheme, host and port, and the addresses libcurl is told to use for it.

Reading a URL takes one slice and one dictionary look-up when its server was met before. A name that no resolver could
answer (a label over 63 octets, a name over 253) is refused here, before anybody is asked.
"""

from __future__ import annotations

import re

from crawler.fetch.outcome import Failure, FailureKind

DEFAULT_PORTS = {"http": 80, "https": 443, "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080}
FETCHABLE = frozenset({"http", "https"})
PROXIES = frozenset(DEFAULT_PORTS)
LONGEST_NAME, LONGEST_LABEL = 253, 63
ORIGINS_REMEMBERED = 50_000

# Scheme, host (an IPv6 address in brackets) and port of an absolute URL; no user information, no blanks.
_server = re.compile(r"([a-z0-9]+)://(\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=%-]+)(?::([0-9]{1,5}))?(?=[/?#]|\Z)").match


class Origin:
    """One server. `pins` are libcurl's instructions for its name, good until `pinned_until` on the monotonic clock."""

    __slots__ = ("address", "authority", "host", "pinned_until", "pins", "port", "prefix_length", "scheme")

    def __init__(self, scheme: str, host: str, port: int, prefix: str) -> None:
        self.scheme = scheme
        self.host = host
        self.port = port
        self.authority = host if port == DEFAULT_PORTS[scheme] else f"{host}:{port}"  # as the Host header says it
        self.prefix_length = len(prefix)
        self.address = ""  # the first one that will be tried
        self.pins: list[str] = []
        self.pinned_until = 0.0

    def pin(self, addresses: tuple[str, ...], until: float) -> None:
        """The same addresses keep the same list object, so that nobody need be told again.

        A plus sign lets libcurl forget the entry after a while: a broad crawl would fill its memory otherwise.
        """
        listed = ",".join(f"[{address}]" if ":" in address else address for address in addresses)
        pins = [] if listed.strip("[]") == self.host.strip("[]") else [f"+{self.host}:{self.port}:{listed}"]
        if pins != self.pins:
            self.pins = pins
        self.address = addresses[0]
        self.pinned_until = until


class Origins:
    """Servers by the beginning of their URLs."""

    def __init__(self) -> None:
        self.by_prefix: dict[str, Origin] = {}

    def of(self, url: str) -> Origin | Failure:
        return self.by_prefix.get(url[: url.find("/", 8)]) or self._read(url)

    def _read(self, url: str) -> Origin | Failure:
        read = origin_of(url, FETCHABLE)
        if isinstance(read, Origin):
            if len(self.by_prefix) >= ORIGINS_REMEMBERED:
                self.by_prefix.clear()
            # Two spellings of one server (with and without its default port) are two entries; that is harmless.
            read = self.by_prefix.setdefault(url[: read.prefix_length], read)
        return read


def origin_of(url: str, schemes: frozenset[str]) -> Origin | Failure:
    match = _server(url)
    if match is None or match[1] not in schemes:
        return _unfetchable(f"not an absolute {'/'.join(sorted(schemes))} URL without credentials: {url[:200]!r}")
    port = int(match[3]) if match[3] else DEFAULT_PORTS[match[1]]
    if not 0 < port < 65536:
        return _unfetchable(f"no such port: {port}")
    if fault := _fault_of_name(match[2]):
        return Failure(FailureKind.DNS, fault, temporary=False)
    return Origin(match[1], match[2], port, match[0])


def proxy_of(url: str) -> Origin | Failure:
    """The proxy a URL names: with or without scheme, with or without credentials."""
    scheme, separator, rest = url.rpartition("://")
    server = rest.rpartition("@")[2]
    return origin_of(f"{scheme.lower() if separator else 'http'}://{server.lower()}", PROXIES)


def _fault_of_name(host: str) -> str | None:
    name = host.removesuffix(".")
    if len(name) > LONGEST_NAME:
        return f"host name of {len(name)} octets: {name[:80]}…"
    if any(not 0 < len(label) <= LONGEST_LABEL for label in name.split(".")) and not host.startswith("["):
        return f"empty or overlong label in host name: {name[:80]!r}"
    return None


def _unfetchable(message: str) -> Failure:
    return Failure(FailureKind.URL, message, temporary=False)
