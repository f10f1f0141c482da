"""What an archive is: captures go in, their places come out, and nothing is lost that was secured.

- `add` and `add_revisit` do no I/O and never fail for want of space. They return the place at once; the bytes wait
  in memory (`pending_bytes`) until `secure`.
- After `secure` returns, every place handed out before can be read, also after kill -9 or a power cut. Call it
  before the database commit that stores the places.
- When it raises ArchiveUnavailable, what was not yet safe is still in memory, the places stay right, and calling it
  again tries again: nothing is lost, nothing is written twice.
- One archive belongs to one thread of one process; any number of processes may write to one folder or bucket.

Exceptions: ArchiveUnavailable (cannot write or reach it now: wait, try again), RecordUnreadable (no such record, or
damaged: trying again is no use).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple, Protocol, Self

__all__ = ["Archive", "ArchiveUnavailable", "Capture", "Location", "Original", "Record", "RecordUnreadable"]


class ArchiveUnavailable(Exception):
    """The archive cannot be written or reached now. The message names it and the reason, for a person to act on."""


class RecordUnreadable(Exception):
    """There is no such record, or its bytes are damaged."""


class Location(NamedTuple):
    """Where one record lies: the gzip member of that length, at that offset of a file of the archive."""

    path: str
    offset: int
    length: int

    def __str__(self) -> str:
        """What goes into the column `storage_path`."""
        return f"{self.path}#{self.offset}+{self.length}"

    @classmethod
    def parse(cls, storage_path: str) -> Self:
        """The place written so. ValueError when it is not one, or leads out of the archive."""
        path, _, span = storage_path.rpartition("#")
        offset, plus, length = span.partition("+")
        outside = path.startswith("/") or ".." in path.split("/")
        if not path or outside or not plus or not is_number(offset) or not is_number(length) or not int(length):
            raise ValueError(f"not a place in an archive: {storage_path!r}")
        return cls(path, int(offset), int(length))


def is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


class Capture(NamedTuple):
    """One answer as it came, and the request it answers. A tuple, because one is made for every page."""

    url: str
    fetched_at: datetime  # when the request was sent, UTC
    request_block: bytes  # request line and headers
    response_block: bytes  # status line and headers, as received
    body: bytes  # as received: still content-encoded, no longer chunked
    payload_sha256: str  # of `body`, hexadecimal
    address: str = ""  # the IP address that answered
    seconds: float = 0.0
    truncated: str | None = None  # why the body is not the whole: "length", "time", "disconnect"
    extra: Mapping[str, object] = MappingProxyType({})  # for the metadata record: via, hopsFromSeed, charset

    def __repr__(self) -> str:
        return f"Capture({self.url!r}, {self.fetched_at}, {len(self.body)} bytes)"


class Original(NamedTuple):
    """The earlier capture that a revisit repeats."""

    url: str
    fetched_at: datetime
    location: Location | None = None  # names the record itself when it is one of ours
    payload_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One record read back. Whether it is the one that was meant is the caller's to check (`url`)."""

    kind: str  # "response" or "revisit"
    fields: Mapping[str, str]  # the WARC header, names in lower case
    status_line: str
    headers: tuple[tuple[str, str], ...]  # in order, names as received
    body: bytes = field(repr=False)  # still content-encoded; empty for a revisit

    @property
    def url(self) -> str:
        return self.fields.get("warc-target-uri", "")

    @property
    def fetched_at(self) -> datetime:
        return datetime.fromisoformat(self.fields["warc-date"])

    @property
    def status(self) -> int:
        """0 when the status line has none."""
        word = [*self.status_line.split(" ", 2), ""][1]
        return int(word) if is_number(word) else 0

    def header(self, name: str) -> str:
        """The values of that header joined by commas, or nothing."""
        return ", ".join(value for known, value in self.headers if known.lower() == name.lower())


class Archive(Protocol):
    """Where a worker puts what it fetched."""

    @property
    def url(self) -> str:
        """What `read` wants as storage_url: file:///…, s3://…"""

    @property
    def pending_bytes(self) -> int:
        """How much waits in memory for `secure`."""

    def add(self, capture: Capture) -> Location:
        """Response, request and metadata records. The place is the response's."""

    def add_revisit(self, capture: Capture, of: Original) -> Location:
        """The same without the body: a 304 is "server not modified", anything else an identical payload."""

    def secure(self) -> None:
        """Everything added so far is safe when this returns. Raises ArchiveUnavailable."""

    def close(self) -> None:
        """Secures what is left and lets go of files and locks, also when securing fails."""
