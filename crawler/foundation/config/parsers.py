"""Text to typed value, one function a kind of setting. Each raises ValueError with the reason."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SQLITE_OPTIONS = {"timeout": r"\d{1,4}", "synchronous": "(?i:off|normal|full|extra)"}
ARCHIVE_SCHEMES = ("file", "s3", "gs", "az")
REDIS_SCHEMES = ("redis", "rediss", "unix")


class InvalidSetting(Exception):
    """A setting that cannot be used; the message names it."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


@dataclass(frozen=True)
class Database:
    """Where the durable state lives."""

    vendor: Literal["sqlite", "postgresql"]
    name: str
    host: str = ""
    port: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.vendor == "sqlite":
            return f"sqlite:///{self.name}"
        login = f"{self.user}{':***' if self.password else ''}@" if self.user else ""
        place = f"{self.host or 'localhost'}{f':{self.port}' if self.port else ''}"
        return f"postgresql://{login}{place}/{self.name}"


def text(value: str) -> str:
    return value


def flag(value: str) -> bool:
    known = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if value.lower() not in known:
        raise ValueError(f"{value!r} is neither true nor false")
    return known[value.lower()]


def whole_number(low: int, high: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", value) or not low <= int(value) <= high:
            raise ValueError(f"{value!r} is not a whole number from {low} to {high}")
        return int(value)

    return parse


def one_of(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError(f"{value!r} is unknown; choose one of {', '.join(choices)}")
        return value.lower()

    return parse


def words(value: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[,\s]+", value) if word)


def hosts(value: str) -> tuple[str, ...]:
    for host in words(value):
        if not re.fullmatch(r"\*|\.?[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]", host):
            raise ValueError(f"{host!r} is not a host name (no scheme, port or path)")
    return words(value)


def networks(value: str) -> tuple[Network, ...]:
    return tuple(_network(word) for word in words(value))


def _network(word: str) -> Network:
    try:
        return ipaddress.ip_network(word, strict=False)
    except ValueError:
        raise ValueError(f"{word!r} is not a network such as 10.0.0.0/8 or fd00::/8") from None


def address(value: str) -> str:
    try:
        return str(ipaddress.ip_address(value.strip("[]")))
    except ValueError:
        raise ValueError(f"{value!r} is not an IP address such as 127.0.0.1 or 0.0.0.0") from None


def url_path(value: str) -> str:
    path = f"/{value.strip('/')}/"
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+/", path):
        raise ValueError(f"{value!r} is not a path such as /admin/")
    return path


def header_text(value: str) -> str:
    if not re.fullmatch(r"[\x20-\x7e]+", value) or not re.match(r"[A-Za-z]", value):
        raise ValueError(f"{value!r} is not a user agent such as MyBot/1.0 (+https://example.com/bot)")
    return value


def public_url(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment):
        raise ValueError(f"{value!r} is not an address such as https://crawl.example.com")
    return value.rstrip("/")


def database(value: str) -> Database:
    scheme = value.partition(":")[0].lower()
    if scheme == "sqlite":
        return _sqlite(value)
    if scheme in ("postgres", "postgresql"):
        return _postgresql(value)
    raise ValueError(f"{scheme!r} is not supported; use sqlite:///path or postgresql://user:password@host/name")


def _sqlite(value: str) -> Database:
    parts = urlsplit(value)
    path = unquote(parts.path[1:])
    if parts.netloc or not path:
        raise ValueError("a SQLite URL is sqlite:///relative/path or sqlite:////absolute/path")
    if ":memory:" in path:
        raise ValueError("an in-memory SQLite database cannot be shared by the platform's processes")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name, chosen in options.items():
        if name not in SQLITE_OPTIONS or not re.fullmatch(SQLITE_OPTIONS[name], chosen):
            raise ValueError(f"{name}={chosen} is not an option; known are timeout=SECONDS and synchronous=NORMAL|FULL")
    return Database("sqlite", path, options=options)


def _postgresql(value: str) -> Database:
    from psycopg import ProgrammingError  # a quarter of the time it takes to start: only for those who need it
    from psycopg.conninfo import conninfo_to_dict

    try:
        found = {name: str(part) for name, part in conninfo_to_dict(value).items() if part is not None}
    except ProgrammingError as error:
        raise ValueError(f"not a PostgreSQL URL: {str(error).strip()}") from None
    name = found.pop("dbname", "")
    if not name:
        raise ValueError("the PostgreSQL URL names no database: postgresql://user:password@host/NAME")
    host, port, user, password = (found.pop(part, "") for part in ("host", "port", "user", "password"))
    if port and not re.fullmatch(r"[0-9,]+", port):
        raise ValueError(f"{port!r} is not a port number")
    return Database("postgresql", name, host, port, user, password, found)


def redis_url(value: str) -> str | None:
    return _url_with_scheme(value, REDIS_SCHEMES, "redis://host:6379/0") if value else None


def archive_url(value: str) -> str:
    if value.startswith("/"):
        return f"file://{value}"
    return _url_with_scheme(value, ARCHIVE_SCHEMES, "s3://bucket/prefix or file:///path")


def _url_with_scheme(value: str, schemes: tuple[str, ...], example: str) -> str:
    scheme, separator, rest = value.partition("://")
    if scheme.lower() not in schemes or not separator or not rest.strip("/"):
        raise ValueError(f"{value!r} is not understood; use {example}")
    if scheme.lower() in ("redis", "rediss"):
        _ = urlsplit(value).port  # raises ValueError when it is not a port
    return value
