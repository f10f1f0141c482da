"""Content encodings: gzip, deflate, br, zstd, also nested, bounded in output and in ratio.

A body that is broken or cut keeps what could be decoded. A bomb is cut at the limit and said to be one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import brotli
import zstandard

MAX_LAYERS = 5
# A page repeats itself, but not a thousand times; small bodies may, so the ratio counts from here on.
MAX_RATIO = 200
RATIO_COUNTS_FROM_BYTES = 1024 * 1024
CHUNK_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Decoded:
    body: bytes
    error: str | None = None  # what was wrong; the body is what came before


class Broken(Exception):
    """The encoded bytes make no sense from here on."""


def decode(body: bytes, content_encoding: str, *, max_bytes: int) -> Decoded:
    """The body without its encodings. Unknown encodings leave it as it is."""
    names = [name for name in (part.strip().lower() for part in content_encoding.split(",")) if name != "identity"]
    names = [name for name in names if name]
    if len(names) > MAX_LAYERS:
        return Decoded(body, f"more than {MAX_LAYERS} content encodings")
    error = None
    for name in reversed(names):
        if name not in DECODERS:
            return Decoded(body, f"unknown content encoding {name!r}")
        unpacked = unpack(body, DECODERS[name], max_bytes)
        body, error = unpacked.body, error or unpacked.error
    return Decoded(body, error)


def unpack(body: bytes, decoder: Callable[[bytes], Iterator[bytes]], max_bytes: int) -> Decoded:
    ceiling = max(RATIO_COUNTS_FROM_BYTES, len(body) * MAX_RATIO)
    parts, size = [], 0
    try:
        for part in decoder(body):
            parts.append(part)
            size += len(part)
            if size > min(max_bytes, ceiling):
                why = "decoded body is too large" if size > max_bytes else "decoded body grows too fast"
                return Decoded(b"".join(parts)[: min(max_bytes, ceiling)], why)
    except Broken as error:
        return Decoded(b"".join(parts), str(error))
    return Decoded(b"".join(parts))


def gunzip(body: bytes) -> Iterator[bytes]:
    """All members; what follows the last one is padding, as in tar archives and careless servers."""
    rest = body
    while rest[:2] == b"\x1f\x8b":
        rest = yield from inflate(rest, 16 + zlib.MAX_WBITS)
    if rest is body and body:
        raise Broken("not gzip")


def deflate(body: bytes) -> Iterator[bytes]:
    """With zlib's frame as the standard says, or bare as some servers send it."""
    framed = len(body) > 1 and (body[0] & 0x0F) == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    yield from inflate(body, zlib.MAX_WBITS if framed else -zlib.MAX_WBITS)


def inflate(body: bytes, window_bits: int) -> Generator[bytes, None, bytes]:
    """Yields the parts, returns what follows the compressed data."""
    machine = zlib.decompressobj(window_bits)
    rest = body
    while not machine.eof:
        try:
            part = machine.decompress(rest, CHUNK_BYTES)
        except zlib.error as error:
            raise Broken(f"broken compressed body: {error}") from None
        rest = machine.unconsumed_tail
        if part:
            yield part
        elif not rest:
            raise Broken("compressed body ends early")
    return machine.unused_data


def unbrotli(body: bytes) -> Iterator[bytes]:
    machine = brotli.Decompressor()
    data = body
    try:
        while not machine.is_finished():
            part = machine.process(data, output_buffer_limit=CHUNK_BYTES)
            data = b""
            if part:
                yield part
            elif machine.can_accept_more_data():
                raise Broken("compressed body ends early")
    except brotli.error as error:
        raise Broken(f"broken compressed body: {error}") from None


def unzstd(body: bytes) -> Iterator[bytes]:
    """Windows over 8 MiB are refused, as the web's profile of zstd allows."""
    machine = zstandard.ZstdDecompressor(max_window_size=8 * 1024 * 1024)
    try:
        with machine.stream_reader(body, read_across_frames=True) as reader:
            while part := reader.read(CHUNK_BYTES):
                yield part
    except zstandard.ZstdError as error:
        raise Broken(f"broken compressed body: {error}") from None


DECODERS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": gunzip,
    "x-gzip": gunzip,
    "deflate": deflate,
    "br": unbrotli,
    "zstd": unzstd,
}
ACCEPTED = "gzip, deflate, br, zstd"
