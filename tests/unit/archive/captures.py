"""Captures to archive, and warcio's view of what came of them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from warcio.archiveiterator import ArchiveIterator

from crawler.archive import Capture

MOMENT = datetime(2026, 11, 15, 12, 30, 45, 123456, tzinfo=UTC)
REQUEST_BLOCK = b"GET /page HTTP/1.1\r\nHost: example.com\r\nUser-Agent: Crawlspace/0.1\r\nAccept: */*\r\n\r\n"
RESPONSE_BLOCK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: test"


def capture(
    url: str = "https://example.com/page",
    body: bytes = b"<p>hello</p>",
    *,
    response_block: bytes = RESPONSE_BLOCK,
    request_block: bytes = REQUEST_BLOCK,
    fetched_at: datetime = MOMENT,
    truncated: str | None = None,
    extra: Mapping[str, object] | None = None,
) -> Capture:
    return Capture(
        url=url,
        fetched_at=fetched_at,
        request_block=request_block,
        response_block=response_block,
        body=body,
        payload_sha256=hashlib.sha256(body).hexdigest(),
        address="192.0.2.7",
        seconds=0.25,
        truncated=truncated,
        extra={"charset": "utf-8", "depth": 2} if extra is None else extra,
    )


class Seen(NamedTuple):
    """One record, as warcio reads it."""

    kind: str
    fields: dict[str, str]
    status: str
    headers: dict[str, str]
    content: bytes


def seen_in(file: Path | bytes) -> list[Seen]:
    """Every record, digests checked, to the last byte of the file."""
    content = file if isinstance(file, bytes) else file.read_bytes()
    records = ArchiveIterator(io.BytesIO(content), check_digests="raise")
    seen, ends = [], [0]
    for record in records:
        seen.append(as_seen(record))
        assert records.get_record_offset() == ends[-1]
        ends.append(ends[-1] + records.get_record_length())
    assert ends[-1] == len(content)
    assert records.err_count == 0
    return seen


def as_seen(record: Any) -> Seen:
    http = record.http_headers
    return Seen(
        kind=record.rec_type,
        fields=dict(record.rec_headers.headers),
        status=http.statusline if http else "",
        headers=dict(http.headers) if http else {},
        content=record.raw_stream.read(),
    )
