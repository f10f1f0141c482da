"""Rows as CSV or NDJSON, piece by piece, so that millions take no more memory than a few."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any, NamedTuple

from django.http import HttpRequest, StreamingHttpResponse

from crawler.bots.exact import as_number
from crawler.bots.exact_json import dumps
from crawler.bots.rendering import iso
from crawler.foundation.errors import InvalidInput

CSV, NDJSON = "csv", "ndjson"
CONTENT_TYPES = {CSV: "text/csv; charset=utf-8", NDJSON: "application/x-ndjson"}
FORMAT_BY_MEDIA_TYPE = {
    "text/csv": CSV,
    "application/x-ndjson": NDJSON,
    "application/ndjson": NDJSON,
    "application/jsonl": NDJSON,
}
ROWS_A_PIECE = 500
# A spreadsheet takes what begins so for a formula, which could send away what stands beside it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

Row = Any  # a NamedTuple


def format_asked(request: HttpRequest, asked: str | None) -> str:
    """The parameter decides, else the Accept header, else CSV. Raises InvalidInput."""
    if asked is not None:
        if asked.lower() not in CONTENT_TYPES:
            raise InvalidInput(field="format", reason=f"{asked!r} is unknown; choose csv or ndjson")
        return asked.lower()
    for part in request.headers.get("Accept", "").split(","):
        if found := FORMAT_BY_MEDIA_TYPE.get(part.partition(";")[0].strip().lower()):
            return found
    return CSV


def download(rows: Iterable[Row], columns: Sequence[str], form: str, name: str) -> StreamingHttpResponse:
    pieces = (text.encode() for text in written(rows, columns, form))
    response = StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


def written(rows: Iterable[Row], columns: Sequence[str], form: str) -> Iterator[str]:
    """The file's text. A CSV has its header even when nothing follows."""
    writer = WRITERS[form]
    if writer.header:
        yield writer.header(columns)
    remaining = iter(rows)
    while piece := list(islice(remaining, ROWS_A_PIECE)):
        yield writer.rows(piece)


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return as_number(value)
    if isinstance(value, datetime):
        return iso(value)
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def ndjson_text(rows: Iterable[Row]) -> str:
    return "".join(f"{dumps(row._asdict())}\n" for row in rows)


class Writer(NamedTuple):
    rows: Callable[[Iterable[Row]], str]
    header: Callable[[Sequence[str]], str] | None = None


WRITERS = {
    CSV: Writer(csv_text, lambda columns: csv_text([columns])),
    NDJSON: Writer(ndjson_text),
}
