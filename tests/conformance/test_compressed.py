"""Content decoding against Scrapy's samples: what decodes, what is broken, and four bombs."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from crawler.fetch.decoding import decode
from tests.conformance import vectors

ROWS = vectors.rows("compressed.jsonl")
LIMIT = 1_000_000  # what the bombs' source uses


def body_of(row: dict[str, Any]) -> bytes:
    return Path(str(vectors.folder()), row["file"]).read_bytes()


def name_of(row: dict[str, Any]) -> str:
    return f"{row['file'].removeprefix('compressed/')} as {row['content_encoding']}"


WHOLE = [row for row in ROWS if row.get("decoded_sha256") and not row["bomb"]]
BOMBS = [row for row in ROWS if row["bomb"]]
CUT = [row for row in ROWS if "decoded_size_partial" in row]


@pytest.mark.parametrize("row", WHOLE, ids=name_of)
def test_whole_bodies(row: dict[str, Any]) -> None:
    result = decode(body_of(row), row["content_encoding"], max_bytes=LIMIT)
    assert (result.error, len(result.body)) == (None, row["decoded_size"])
    assert sha256(result.body).hexdigest() == row["decoded_sha256"]


@pytest.mark.parametrize("row", BOMBS, ids=name_of)
def test_bombs_are_cut_at_the_limit(row: dict[str, Any]) -> None:
    result = decode(body_of(row), row["content_encoding"], max_bytes=LIMIT)
    assert len(result.body) == LIMIT
    assert result.error


@pytest.mark.parametrize("row", BOMBS, ids=name_of)
def test_bombs_are_cut_by_their_ratio_too(row: dict[str, Any]) -> None:
    result = decode(body_of(row), row["content_encoding"], max_bytes=100_000_000)
    assert result.error
    assert len(result.body) < row["decoded_size"]


@pytest.mark.parametrize("row", CUT, ids=name_of)
def test_what_came_before_the_break_is_kept(row: dict[str, Any]) -> None:
    result = decode(body_of(row), row["content_encoding"], max_bytes=LIMIT)
    assert result.error
    assert len(result.body) >= row["decoded_size_partial"]
    assert result.body.decode("cp1252").endswith(row["decoded_endswith"] or "")


def test_what_is_not_gzip_is_passed_through() -> None:
    (row,) = [row for row in ROWS if "NOT gzip" in row["expected"]]
    body = body_of(row)
    result = decode(body, row["content_encoding"], max_bytes=LIMIT)
    assert result.body == body
    assert result.error


def test_gzip_files_stay_files() -> None:
    """A file is not an encoding: whoever reads sitemaps unpacks theirs (tests/unit/web/test_sitemaps.py)."""
    (row,) = [row for row in ROWS if row["content_encoding"] is None]
    assert decode(body_of(row), "", max_bytes=LIMIT) == (body_of(row), None)
    assert len(decode(body_of(row), "gzip", max_bytes=LIMIT).body) == row["decoded_size"]


def test_no_row_is_left_out() -> None:
    assert len(WHOLE) + len(BOMBS) + len(CUT) + 2 == len(ROWS)
