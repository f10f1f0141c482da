"""Where zstd data begins and ends: the library's reader takes a cut stream for a whole one."""

from __future__ import annotations

import zstandard

MAGIC_BYTES, BLOCK_HEADER_BYTES, CHECKSUM_BYTES, SKIPPABLE_HEADER_BYTES = 4, 3, 4, 8
SKIPPABLE = 0x184D2A50  # the last four bits are free
RUN_LENGTH = 1  # a block of this type holds one byte, however long it says it is


def begins_with_a_frame(data: bytes) -> bool:
    return data.startswith(zstandard.FRAME_HEADER) or _is_skippable(data, 0)


def ends_with_its_frames(data: bytes, *, frames: int | None = None) -> bool:
    """True when the data is frames, complete ones, and nothing else; so many, when a number is given."""
    position, count = 0, 0
    while position < len(data):
        end = _end_of_frame(data, position)
        if end is None or end > len(data):
            return False
        position, count = end, count + 1
    return frames is None or count == frames


def _end_of_frame(data: bytes, start: int) -> int | None:
    if _is_skippable(data, start):
        skipped = int.from_bytes(data[start + MAGIC_BYTES : start + SKIPPABLE_HEADER_BYTES], "little")
        return start + SKIPPABLE_HEADER_BYTES + skipped
    head = data[start : start + 18]  # the longest header there is
    try:
        position = start + zstandard.frame_header_size(head)
        has_checksum = zstandard.get_frame_parameters(head).has_checksum
    except zstandard.ZstdError:
        return None
    while len(header := data[position : position + BLOCK_HEADER_BYTES]) == BLOCK_HEADER_BYTES:
        value = int.from_bytes(header, "little")
        is_last, kind, size = value & 1, value >> 1 & 3, value >> 3
        position += BLOCK_HEADER_BYTES + (1 if kind == RUN_LENGTH else size)
        if is_last:
            return position + CHECKSUM_BYTES * has_checksum
    return None


def _is_skippable(data: bytes, start: int) -> bool:
    return int.from_bytes(data[start : start + MAGIC_BYTES], "little") & ~0xF == SKIPPABLE
