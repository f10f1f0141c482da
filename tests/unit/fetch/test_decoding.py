from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.decoding import CODINGS, MAX_LAYERS, decode
from crawler.fetch.zstd_frames import ends_with_its_frames

TEXT = b"".join(b"<p>paragraph %d of a page that is read by nobody</p>\n" % number for number in range(2_000))


def bare_deflate(data: bytes) -> bytes:
    machine = zlib.compressobj(wbits=-15)
    return machine.compress(data) + machine.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
by_coding = pytest.mark.parametrize("coding", ENCODERS)


@by_coding
def test_round_trip(coding: str) -> None:
    assert decode(ENCODERS[coding](TEXT), coding, max_bytes=1 << 20) == (TEXT, None)


def test_deflate_without_its_frame() -> None:
    assert decode(bare_deflate(TEXT), "deflate", max_bytes=1 << 20) == (TEXT, None)


def test_nested() -> None:
    body = brotli.compress(zstandard.compress(gzip.compress(TEXT)))
    assert decode(body, "GZIP , zstd,,identity, br", max_bytes=1 << 20) == (TEXT, None)


def test_several_members_and_padding() -> None:
    body = gzip.compress(b"one ") + gzip.compress(b"two") + bytes(100)
    assert decode(body, "gzip", max_bytes=1 << 20) == (b"one two", None)


def test_several_zstd_frames() -> None:
    skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    body = zstandard.compress(b"one ") + skippable + zstandard.compress(b"two")
    assert decode(body, "zstd", max_bytes=1 << 20) == (b"one two", None)


@by_coding
def test_a_cut_body_keeps_its_beginning(coding: str) -> None:
    body = ENCODERS[coding](TEXT)
    result = decode(body[: len(body) * 3 // 4], coding, max_bytes=1 << 20)
    assert result.error
    assert TEXT.startswith(result.body)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_broken_checksum_costs_nothing(coding: str) -> None:
    body = ENCODERS[coding](TEXT)
    broken = body[:-6] + bytes([body[-6] ^ 0xFF]) + body[-5:] if coding == "gzip" else body[:-1] + bytes([body[-1] ^ 1])
    result = decode(broken, coding, max_bytes=1 << 20)
    assert result.error
    assert result.body == TEXT


@by_coding
def test_what_is_not_encoded_is_passed_through(coding: str) -> None:
    result = decode(b"<html>plain</html>", coding, max_bytes=1 << 20)
    assert result.body == b"<html>plain</html>"
    assert result.error


@by_coding
def test_the_size_is_bounded(coding: str) -> None:
    body = ENCODERS[coding](TEXT)
    result = decode(body, coding, max_bytes=1_000)
    assert (result.body, result.error) == (TEXT[:1_000], "decoded body is too large")
    assert decode(body, coding, max_bytes=len(TEXT)) == (TEXT, None)


@by_coding
def test_growth_is_bounded(coding: str) -> None:
    body = ENCODERS[coding](bytes(8_000_000))
    result = decode(body, coding, max_bytes=1 << 30)
    assert result.error == "decoded body grows too fast"
    assert len(result.body) <= max(1 << 20, 200 * len(body))


def test_zstd_frames_that_lie_about_their_size() -> None:
    """A header that claims 2 GiB, a window that would need it, and almost nothing behind."""
    claim = zstandard.ZstdCompressor(write_content_size=True)
    machine = claim.compressobj(size=3)
    body = machine.compress(b"abc") + machine.flush()
    lying = body[:4] + bytes([0xA0]) + (1 << 31).to_bytes(4, "little") + body[6:]
    assert decode(lying, "zstd", max_bytes=1 << 20).error


@by_coding
def test_empty_bodies_are_not_decoded(coding: str) -> None:
    assert decode(b"", coding, max_bytes=10) == (b"", None)


def test_unknown_codings_leave_the_body() -> None:
    assert decode(b"abc", "exi", max_bytes=10) == (b"abc", "unknown content encoding 'exi'")
    assert decode(b"abc", "", max_bytes=10) == (b"abc", None)
    assert decode(b"abc", "identity", max_bytes=10) == (b"abc", None)


def test_too_many_layers_leave_the_body() -> None:
    result = decode(b"abc", ",".join(["gzip"] * (MAX_LAYERS + 1)), max_bytes=10)
    assert result == (b"abc", "more than 5 content encodings")


@given(st.binary(max_size=200), st.sampled_from(sorted(CODINGS)))
def test_nothing_raises(body: bytes, coding: str) -> None:
    assert len(decode(body, coding, max_bytes=1_000).body) <= max(1_000, len(body))


@given(st.binary(max_size=300), st.data())
def test_zstd_ends(body: bytes, data: st.DataObject) -> None:
    encoded = zstandard.compress(body)
    assert ends_with_its_frames(encoded, frames=1)
    cut = data.draw(st.integers(1, len(encoded) - 1))
    assert not ends_with_its_frames(encoded[:cut])
