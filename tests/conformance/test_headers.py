"""Header values against the cases of WPT, undici, urllib3, the RFCs and other crawlers."""

from base64 import b64decode
from datetime import datetime
from typing import Any

import pytest

from crawler.web.headers import cache_control, content_type, parse_date, retry_after, sniff, x_robots_tag
from tests.conformance import vectors

MIME_TYPES = vectors.rows("mime_types.jsonl")
MIME_SNIFF = vectors.rows("mime_sniff.jsonl")
HTTP_DATE = vectors.rows("http_date.jsonl")
RETRY_AFTER = vectors.rows("retry_after.jsonl")
CACHE_CONTROL = vectors.rows("cache_control.jsonl")
X_ROBOTS_TAG = [row for row in vectors.rows("robots_meta.jsonl") if row["html"] is None]
DEVIATIONS = vectors.deviations("headers")


def by_row(row: dict[str, Any]) -> str:
    return str(row["_row"])


@pytest.mark.parametrize("row", MIME_TYPES, ids=by_row)
def test_content_types(row: dict[str, Any]) -> None:
    media_type = content_type(row["input"])
    assert (str(media_type) if media_type else None) == row["output"]
    assert (media_type.charset if media_type else None) == (row["encoding"].lower() if row["encoding"] else None)


@pytest.mark.parametrize("row", MIME_SNIFF, ids=by_row)
def test_sniffing(row: dict[str, Any]) -> None:
    headers = {name.lower(): value for name, value in row["headers"]}
    nosniff = headers.get("x-content-type-options") == "nosniff"
    assert sniff(b64decode(row["bytes_b64"]), headers.get("content-type"), nosniff=nosniff) == row["sniffed"]


@pytest.mark.parametrize("row", HTTP_DATE, ids=by_row)
def test_dates(row: dict[str, Any]) -> None:
    assert parse_date(row["value"]) == (datetime.fromisoformat(row["date"]) if row["date"] else None)


@pytest.mark.parametrize("row", RETRY_AFTER, ids=by_row)
def test_retry_after(row: dict[str, Any]) -> None:
    agrees = retry_after(row["value"], datetime.fromisoformat(row["now"])) == row["seconds"]
    assert agrees is not (("retry_after.jsonl", row["_row"]) in DEVIATIONS)


@pytest.mark.parametrize("row", CACHE_CONTROL, ids=by_row)
def test_cache_control(row: dict[str, Any]) -> None:
    assert dict(cache_control(row["header"]).directives) == row["directives"]


@pytest.mark.parametrize("row", X_ROBOTS_TAG, ids=by_row)
def test_x_robots_tag(row: dict[str, Any]) -> None:
    found = x_robots_tag([value for name, value in row["headers"] if name.lower() == "x-robots-tag"])
    assert (found.noindex, found.nofollow, found.nocache) == (row["noindex"], row["nofollow"], row["nocache"])
