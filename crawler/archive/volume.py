"""One file of the archive in the making: its name, its end, and what is not yet safe."""

from __future__ import annotations

import os
import platform
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime

from crawler.archive import records
from crawler.archive.contract import Capture, Location, Original
from crawler.archive.members import pack_page, pack_small, store

SUFFIX = ".warc.gz"
_IDENTITY = re.compile(r"-([0-9a-f]{18})\.warc\.gz\Z")


class Volume:
    """Offsets are final from the start: where a record will lie is known before anything is written."""

    __slots__ = ("end", "id_start", "name", "parts", "secured_end")

    def __init__(self, name: str) -> None:
        self.name = name
        self.id_start = id_start_of(name)
        self.parts: list[bytes] = []
        self.secured_end = 0
        self.end = 0

    def add(self, capture: Capture) -> Location:
        shared = records.shared_fields(capture)
        record_id = self.next_id()
        record = records.response(record_id, shared, capture)
        location = self.append(store(record) if records.is_dense(capture) else pack_page(record))
        self.append_companions(record_id, shared, capture)
        return location

    def add_revisit(self, capture: Capture, of: Original) -> Location:
        shared = records.shared_fields(capture)
        record_id = self.next_id()
        location = self.append(pack_small(records.revisit(record_id, shared, capture, of, id_at(of.location))))
        self.append_companions(record_id, shared, capture)
        return location

    def append_companions(self, response_id: bytes, shared: bytes, capture: Capture) -> None:
        self.append(pack_small(records.request(self.next_id(), shared, response_id, capture)))
        self.append(pack_small(records.metadata(self.next_id(), shared, response_id, capture)))

    def append(self, member: bytes) -> Location:
        location = Location(self.name, self.end, len(member))
        self.parts.append(member)
        self.end += location.length
        return location

    def next_id(self) -> bytes:
        return b"%b%012x" % (self.id_start, self.end)

    def mark_secured(self) -> None:
        self.secured_end = self.end
        self.parts.clear()


def new_volume(prefix: str, number: int, about: Mapping[str, object]) -> Volume:
    """A volume that nobody else will ever name so, opened by its warcinfo record."""
    now = datetime.now(UTC)
    name = f"{prefix}-{now:%Y%m%d%H%M%S}-{os.getpid()}-{number:05}-{secrets.token_hex(9)}{SUFFIX}"
    volume = Volume(name)
    fields = {"format": "WARC File Format 1.1", "hostname": platform.node(), **about}
    volume.append(pack_small(records.warcinfo(volume.next_id(), now, name, fields)))
    return volume


def id_start_of(name: str) -> bytes:
    """The first four groups of the ids of that file's records; the last group is the offset."""
    found = _IDENTITY.search(name)
    if not found:
        raise ValueError(f"not a name of ours: {name!r}")
    digits = found[1]
    return f"{digits[:8]}-{digits[8:12]}-8{digits[12:15]}-8{digits[15:]}-".encode()


def id_at(location: Location | None) -> bytes | None:
    """The id of the record that lies there, if the file is one of ours."""
    if location is None or not _IDENTITY.search(location.path):
        return None
    return b"%b%012x" % (id_start_of(location.path), location.offset)
