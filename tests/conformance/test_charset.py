"""Encodings of documents and the WHATWG label table, against html5lib's, w3lib's and the standard's own cases."""

import codecs
from base64 import b64decode
from typing import Any

import pytest

from crawler.web.charset import decode, encoding_from_label, prescan, python_codec
from crawler.web.charset.prescan import PRESCAN_BYTES
from tests.conformance import vectors

FILE = "encoding.jsonl"
ENCODING = vectors.rows(FILE)
LABELS = vectors.rows("encoding_labels.jsonl")
DEVIATIONS = vectors.deviations("charset")


def by_row(row: dict[str, Any]) -> str:
    return str(row["_row"])


def of_kind(*kinds: str) -> list[dict[str, Any]]:
    return [row for row in ENCODING if row["kind"] in kinds]


def body_of(row: dict[str, Any]) -> bytes:
    return b64decode(row["bytes_b64"] or "")


def codec_of(encoding: str | None) -> str | None:
    """One spelling for a Python codec: w3lib's rows name codecs, and several names mean one."""
    return python_codec(encoding) if encoding else None


def expected_codec(row: dict[str, Any]) -> str | None:
    return codecs.lookup(row["encoding"]).name if row["encoding"] else None


def check(row: dict[str, Any], agrees: bool) -> None:
    listed = (FILE, row["_row"]) in DEVIATIONS
    assert agrees is not listed, "listed as a deviation, but agrees" if listed else row


@pytest.mark.parametrize("row", LABELS, ids=by_row)
def test_labels(row: dict[str, Any]) -> None:
    assert encoding_from_label(row["label"]) == row["encoding"]
    assert encoding_from_label(f"\t {row['label'].upper()}\n") == row["encoding"]


@pytest.mark.parametrize("row", of_kind("html5_document"), ids=by_row)
def test_documents(row: dict[str, Any]) -> None:
    body = body_of(row)
    check(row, decode(body, row["header"]).encoding == row["encoding"])
    if not body.startswith(codecs.BOM_UTF8):
        assert (prescan(body[:PRESCAN_BYTES]) or "windows-1252") == row["prescan_1024_gives"]


@pytest.mark.parametrize("row", of_kind("declared_in_header"), ids=by_row)
def test_declared_in_header(row: dict[str, Any]) -> None:
    # What is the same for two bodies of different encodings comes from the header.
    ascii_body, utf8_body = (decode(body, row["header"]).encoding for body in (b"", "£".encode()))
    check(row, codec_of(ascii_body if ascii_body == utf8_body else None) == expected_codec(row))


@pytest.mark.parametrize("row", of_kind("declared_in_body"), ids=by_row)
def test_declared_in_body(row: dict[str, Any]) -> None:
    check(row, codec_of(prescan(body_of(row))) == expected_codec(row))


@pytest.mark.parametrize("row", of_kind("bom", "full"), ids=by_row)
def test_whole_bodies(row: dict[str, Any]) -> None:
    decoded = decode(body_of(row), row["header"])
    if row["encoding"]:
        check(row, codec_of(decoded.encoding) == expected_codec(row) and decoded.text == row.get("text", decoded.text))
    else:
        assert decoded.encoding == "windows-1252"  # no mark, nothing declared, nothing beyond ASCII


@pytest.mark.parametrize("row", of_kind("label"), ids=by_row)
def test_codecs_of_labels(row: dict[str, Any]) -> None:
    check(row, codec_of(encoding_from_label(row["label"])) == expected_codec(row))


def test_every_row_is_looked_at() -> None:
    known = of_kind("html5_document", "declared_in_header", "declared_in_body", "bom", "full", "label")
    assert len(known) == len(ENCODING)
