"""Gzip members: one for each record, so that a record can be read without its neighbours."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from isal import isal_zlib

# For pages, level 1 packs like zlib's level 1 in a third of the time; see docs/adr/0012.
PAGE_LEVEL = 1
# For a few hundred bytes, setting up level 1 costs more than the compression, five times level 0 in all.
SMALL_LEVEL = 0
GZIP_WINDOW_BITS = 31
CHUNK_BYTES = 256 * 1024
MAX_UNPACKED_BYTES = 4 * 1024 * 1024

_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # deflate, no flags, no time, system unknown
_BLOCK = struct.Struct("<?HH")  # whether it is the last one, its size, and the size's complement
_TRAILER = struct.Struct("<II")  # CRC-32 and size of the content
_BLOCK_BYTES = 0xFFFF

BROKEN: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # the stub says instance where it is a class


def pack_page(record: bytes) -> bytes:
    return isal_zlib.compress(record, PAGE_LEVEL, GZIP_WINDOW_BITS)


def pack_small(record: bytes) -> bytes:
    return isal_zlib.compress(record, SMALL_LEVEL, GZIP_WINDOW_BITS)


def store(record: bytes) -> bytes:
    """A member that holds the record as it is: for what is compressed already, a tenth of the time of packing."""
    parts = [_HEAD]
    for at in range(0, len(record), _BLOCK_BYTES):
        block = record[at : at + _BLOCK_BYTES]
        size = len(block)
        parts += (_BLOCK.pack(at + size == len(record), size, size ^ 0xFFFF), block)
    parts.append(_TRAILER.pack(isal_zlib.crc32(record), len(record) & 0xFFFFFFFF))
    return b"".join(parts)


def unpack(member: bytes) -> bytes:
    """What is in exactly one whole member. ValueError when it is not one."""
    machine = isal_zlib.decompressobj(GZIP_WINDOW_BITS)
    try:
        content = machine.decompress(member)
    except BROKEN as error:
        raise ValueError(str(error)) from None
    if not machine.eof or machine.unused_data:
        raise ValueError("not one whole gzip member")
    return content


def whole_end(file: BinaryIO, start: int) -> int:
    """The end of the last whole member of those that follow each other from there."""
    return max(member_ends(file, start), default=start)


def member_ends(file: BinaryIO, start: int) -> Iterator[int]:
    """Where the members end, up to the first that is broken or incomplete. Memory stays bounded."""
    file.seek(start)
    end, rest = start, b""
    while True:
        machine = isal_zlib.decompressobj(GZIP_WINDOW_BITS)
        while not machine.eof:
            chunk = rest or file.read(CHUNK_BYTES)
            try:
                unpacked = machine.decompress(chunk, MAX_UNPACKED_BYTES)
            except BROKEN:
                return
            if not chunk and not unpacked and not machine.eof:
                return
            rest = machine.unused_data or machine.unconsumed_tail
            end += len(chunk) - len(rest)
        yield end
