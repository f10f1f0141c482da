"""Content encodings: gzip, deflate, br, zstd, also nested, bounded in size and in growth.

A body that is broken or cut keeps what could be decoded; one that is not encoded at all, whatever its header says, is
passed through. A bomb is cut at the limit. In all these cases `error` says what was wrong.

Every coding has two ways: a quick one for the whole body, and a careful one, piece by piece, for all that the quick
one does not finish.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple

import brotli
import zstandard
from isal import isal_zlib

from crawler.fetch.zstd_frames import begins_with_a_frame, ends_with_its_frames

ACCEPTED = "gzip, deflate, br, zstd"
MAX_LAYERS = 5
# A page repeats itself, but not two hundred times over; small bodies may, so growth counts from here on.
MAX_GROWTH = 200
GROWTH_COUNTS_FROM_BYTES = 1024 * 1024
PIECE_BYTES = 64 * 1024
FINE_PIECE_BYTES = 256  # what is lost at most before the place where a body breaks
ZSTD_WINDOW_BYTES = 8 * 1024 * 1024  # RFC 9659: more is not for the web
GZIP_WINDOW, ZLIB_WINDOW, BARE_WINDOW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS

BROKEN: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # the stub says instance where it is a class


class Decoded(NamedTuple):
    body: bytes
    error: str | None = None


class Broken(Exception):
    """The encoded bytes make no sense from here on."""


class NotEncoded(Broken):
    """The body never was what its header says."""


def decode(body: bytes, content_encoding: str, *, max_bytes: int) -> Decoded:
    """The body without its encodings, the last one named undone first. An unknown one leaves it as it is."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > MAX_LAYERS:
        return Decoded(body, f"more than {MAX_LAYERS} content encodings")
    error = None
    for name in reversed(names):
        if name not in CODINGS:
            return Decoded(body, f"unknown content encoding {name[:40]!r}")
        body, layer_error = _undone(body, CODINGS[name], max_bytes)
        error = error or layer_error
    return Decoded(body, error)


class Coding(NamedTuple):
    # The whole, when it decodes cleanly within so many bytes; else None.
    quick: Callable[[bytes, int], bytes | None]
    # What can be decoded, in pieces; raises Broken where it cannot go on.
    careful: Callable[[bytes], Iterator[bytes]]


def _undone(body: bytes, coding: Coding, max_bytes: int) -> Decoded:
    if not body:
        return Decoded(body)
    allowed_growth = max(GROWTH_COUNTS_FROM_BYTES, len(body) * MAX_GROWTH)
    ceiling = min(max_bytes, allowed_growth)
    whole = coding.quick(body, ceiling)
    if whole is not None:
        return Decoded(whole)
    parts: list[bytes] = []
    error = None
    try:
        _take(coding.careful(body), parts, ceiling)
    except NotEncoded as reason:
        return Decoded(body, str(reason))
    except Broken as reason:
        error = str(reason)
    decoded = b"".join(parts)
    if len(decoded) > ceiling:
        error = "decoded body is too large" if ceiling == max_bytes else "decoded body grows too fast"
    return Decoded(decoded[:ceiling], error)


def _take(pieces: Iterator[bytes], parts: list[bytes], ceiling: int) -> None:
    size = 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size > ceiling:
            return


def _quick_gzip(body: bytes, ceiling: int) -> bytes | None:
    return _quick_inflate(body, GZIP_WINDOW, ceiling)


def _quick_deflate(body: bytes, ceiling: int) -> bytes | None:
    return _quick_inflate(body, _deflate_window(body), ceiling)


def _quick_inflate(body: bytes, window: int, ceiling: int) -> bytes | None:
    machine = isal_zlib.decompressobj(window)
    try:
        whole = machine.decompress(body, ceiling + 1)
    except BROKEN:
        return None
    is_all = machine.eof and not machine.unused_data and len(whole) <= ceiling
    return bytes(whole) if is_all else None


def _gunzip(body: bytes) -> Iterator[bytes]:
    """All members; what follows the last one is padding, as careless servers send it."""
    rest = body
    while rest[:2] == b"\x1f\x8b":
        rest = yield from _inflate(rest, GZIP_WINDOW)
    if rest is body:
        raise NotEncoded("not gzip")


def _undeflate(body: bytes) -> Iterator[bytes]:
    return _unless_none_comes("deflate", _inflate(body, _deflate_window(body)))


def _deflate_window(body: bytes) -> int:
    """With zlib's frame as the standard says, or bare as some servers send it."""
    is_framed = len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return ZLIB_WINDOW if is_framed else BARE_WINDOW


def _inflate(body: bytes, window: int) -> Generator[bytes, None, bytes]:
    """Yields the pieces, returns what follows the compressed data.

    An error costs the whole piece it happens in, so from the last good state on the pieces get smaller.
    """
    machine, rest = zlib.decompressobj(window), body
    for piece_bytes in (PIECE_BYTES, FINE_PIECE_BYTES):
        while not machine.eof:
            before = machine.copy()
            try:
                piece = machine.decompress(rest, piece_bytes)
            except zlib.error:
                machine = before
                break
            rest = machine.unconsumed_tail
            if piece:
                yield piece
            elif not rest:
                raise Broken("compressed body ends early")
        else:
            return machine.unused_data
    yield from _inflate_bytewise(machine, rest)
    return b""


def _inflate_bytewise(machine: zlib._Decompress, rest: bytes) -> Iterator[bytes]:
    """Up to the byte that is wrong; of a wrong checksum that is the last one, and nothing is lost."""
    for number in range(len(rest)):
        try:
            yield machine.decompress(rest[number : number + 1])
        except zlib.error as error:
            raise Broken(f"broken compressed body: {error}") from None


def _quick_brotli(body: bytes, ceiling: int) -> bytes | None:
    machine = brotli.Decompressor()
    try:
        whole: bytes = machine.process(body, output_buffer_limit=ceiling + 1)
    except brotli.error:
        return None
    return whole if machine.is_finished() and len(whole) <= ceiling else None


def _unbrotli(body: bytes) -> Iterator[bytes]:
    return _unless_none_comes("br", _brotli_pieces(body))


def _brotli_pieces(body: bytes) -> Iterator[bytes]:
    machine = brotli.Decompressor()
    data = body
    try:
        while not machine.is_finished():
            piece = machine.process(data, output_buffer_limit=FINE_PIECE_BYTES)
            data = b""
            if piece:
                yield piece
            elif machine.can_accept_more_data():
                raise Broken("compressed body ends early")
    except brotli.error as error:
        raise Broken(f"broken compressed body: {error}") from None


def _unless_none_comes(name: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """These two have no mark by which to know them: what gives nothing at all was something else."""
    any_came = False
    try:
        for piece in pieces:
            any_came = any_came or bool(piece)
            yield piece
    except Broken as reason:
        raise reason if any_came else NotEncoded(f"not {name}") from None


def _quick_zstd(body: bytes, ceiling: int) -> bytes | None:
    """The size a frame claims is not believed further than the ceiling: room for it is made at once."""
    try:
        if not 0 <= zstandard.frame_content_size(body) <= ceiling or not ends_with_its_frames(body, frames=1):
            return None
        return zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES).decompress(body)
    except zstandard.ZstdError:
        return None


def _unzstd(body: bytes) -> Iterator[bytes]:
    if not begins_with_a_frame(body):
        raise NotEncoded("not zstd")
    machine = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES)
    try:
        with machine.stream_reader(body, read_across_frames=True) as reader:
            while piece := reader.read(FINE_PIECE_BYTES):
                yield piece
    except zstandard.ZstdError as error:
        raise Broken(f"broken compressed body: {error}") from None
    if not ends_with_its_frames(body):
        raise Broken("compressed body ends early")


_GZIP = Coding(_quick_gzip, _gunzip)
CODINGS = {
    "gzip": _GZIP,
    "x-gzip": _GZIP,
    "deflate": Coding(_quick_deflate, _undeflate),
    "br": Coding(_quick_brotli, _unbrotli),
    "zstd": Coding(_quick_zstd, _unzstd),
}
