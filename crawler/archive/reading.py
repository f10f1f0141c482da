"""One record back by one range read."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import obstore
from obstore.exceptions import BaseError
from obstore.exceptions import NotFoundError as ObjectNotFound

from crawler.archive.contract import ArchiveUnavailable, Location, Record, RecordUnreadable
from crawler.archive.members import unpack
from crawler.archive.objects import Options, reason_of, store_at
from crawler.archive.opening import folder_of

RangeRead = Callable[[Location], bytes]


def read(storage_url: str, storage_path: str, *, options: Options = ()) -> Record:
    """The record that the row names. Raises RecordUnreadable, ArchiveUnavailable."""
    return open_reader(storage_url, options=options)(storage_path)


def open_reader(storage_url: str | Path, *, options: Options = ()) -> Callable[[str], Record]:
    """A function from storage_path to Record, for many reads of one archive. Any thread may call it."""
    folder = folder_of(storage_url)
    fetch = partial(read_file, folder) if folder else partial(read_object, str(storage_url), options)
    return partial(read_record, fetch)


def read_record(fetch: RangeRead, storage_path: str) -> Record:
    try:
        location = Location.parse(storage_path)
    except ValueError as error:
        raise RecordUnreadable(str(error)) from None
    member = fetch(location)
    try:
        return parse(unpack(member))
    except ValueError as error:
        raise RecordUnreadable(f"the record at {storage_path} is damaged: {error}") from error


def read_file(folder: Path, location: Location) -> bytes:
    try:
        descriptor = os.open(folder / location.path, os.O_RDONLY)
    except FileNotFoundError:
        raise RecordUnreadable(f"there is no file {location.path} in {folder}") from None
    except OSError as error:
        raise ArchiveUnavailable(f"cannot read {folder / location.path}: {error.strerror}") from error
    try:
        return os.pread(descriptor, location.length, location.offset)
    except OSError as error:
        raise ArchiveUnavailable(f"cannot read {folder / location.path}: {error.strerror}") from error
    finally:
        os.close(descriptor)


def read_object(url: str, options: Options, location: Location) -> bytes:
    try:
        store = store_at(url, options)
        return bytes(obstore.get_range(store, location.path, start=location.offset, length=location.length))
    except (ObjectNotFound, FileNotFoundError):
        raise RecordUnreadable(f"there is no object {location.path} at {url}") from None
    except (BaseError, OSError) as error:
        raise ArchiveUnavailable(f"cannot read from the archive at {url}: {reason_of(error)}") from error


def parse(content: bytes) -> Record:
    head, _, rest = content.partition(b"\r\n\r\n")
    version, *lines = head.decode("utf-8", "replace").split("\r\n")
    if not version.startswith("WARC/"):
        raise ValueError("not a WARC record")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    size = int(fields.get("content-length", "-1"))
    if size < 0 or rest[size:] != b"\r\n\r\n":
        raise ValueError("the block does not end where it should")
    http, _, body = rest[:size].partition(b"\r\n\r\n")
    status_line, *header_lines = http.decode("latin-1").split("\n")
    return Record(fields.get("warc-type", ""), fields, status_line.rstrip("\r"), headers_of(header_lines), body)


def headers_of(lines: list[str]) -> tuple[tuple[str, str], ...]:
    """Lines without a colon are noise; a line that begins with a blank continues the one before."""
    found: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif colon:
            found.append((name.strip(), value.strip()))
    return tuple(found)
