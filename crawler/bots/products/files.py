"""Files of product URLs, line by line, in memory that does not grow with the file.

    text     a URL a line
    csv      a column `url` (or product_url, link), separated by comma, semicolon or tab; or no header
    ndjson   an object with a `url`, or a string, a line
    json     a list of either, alone or as `urls` or `products` of an object; up to 16 MB

Blank lines and lines that begin with # say nothing. Any of them may be packed by gzip.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import chain
from typing import Any, NamedTuple, Protocol

from crawler.foundation.errors import InvalidInput, TooLarge

LONGEST_LINE_BYTES = 64 * 1024
LARGEST_JSON_BYTES = 16 * 1024 * 1024
BUFFER_BYTES = 256 * 1024
GZIP_MARK, UTF16_MARKS, UTF8_MARK = b"\x1f\x8b", (b"\xff\xfe", b"\xfe\xff"), b"\xef\xbb\xbf"
URL_COLUMNS = ("url", "product_url", "link")
DELIMITERS = ",;\t"


class Form(StrEnum):
    TEXT = "text"
    CSV = "csv"
    NDJSON = "ndjson"
    JSON = "json"


FORM_BY_SUFFIX = {
    "txt": Form.TEXT, "csv": Form.CSV, "tsv": Form.CSV, "ndjson": Form.NDJSON, "jsonl": Form.NDJSON, "json": Form.JSON,
}  # fmt: skip
FORM_BY_CONTENT_TYPE = {
    "text/csv": Form.CSV,
    "text/tab-separated-values": Form.CSV,
    "application/x-ndjson": Form.NDJSON,
    "application/ndjson": Form.NDJSON,
    "application/jsonl": Form.NDJSON,
    "application/json": Form.JSON,
}


class Source(Protocol):
    """Anything that can be read: a file, an upload, a request."""

    def read(self, size: int = ..., /) -> bytes: ...


class Entry(NamedTuple):
    """A URL and where it stood, or what stood there instead and why it is none."""

    line: int
    text: str
    refusal: str = ""


def form_of_name(name: str) -> Form | None:
    """By the file's ending, `.gz` aside; None when it says nothing."""
    return FORM_BY_SUFFIX.get(name.lower().removesuffix(".gz").rpartition(".")[2])


def form_of_content_type(content_type: str) -> Form | None:
    return FORM_BY_CONTENT_TYPE.get(content_type.partition(";")[0].strip().lower())


def read_entries(source: Source, form: Form | None = None) -> Iterator[Entry]:
    """Every entry of the file. Without a form its first line decides. Raises InvalidInput for what cannot be read."""
    try:
        stream = _unpacked(source)
        form = form or _form_of_start(stream.peek(1))
        if form is Form.JSON:
            yield from _of_json(stream)
        else:
            yield from READERS[form](_lines(stream))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidInput(field="file", reason=f"The gzip file is damaged or cut off: {error}") from None


class _Raw(io.RawIOBase):
    def __init__(self, source: Source) -> None:
        self.source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """As much as fits, so that a look at the beginning shows whole lines."""
        at = 0
        while at < len(buffer) and (part := self.source.read(len(buffer) - at)):
            buffer[at : at + len(part)] = part
            at += len(part)
        return at


def _unpacked(source: Source) -> io.BufferedReader:
    stream: io.BufferedReader = io.BufferedReader(_Raw(source), BUFFER_BYTES)
    if stream.peek(2)[:2] == GZIP_MARK:
        stream = io.BufferedReader(gzip.GzipFile(fileobj=stream), BUFFER_BYTES)
    start = stream.peek(3)[:3]
    if start[:2] in UTF16_MARKS:
        raise InvalidInput(field="file", reason="The file is UTF-16; save it as UTF-8")
    if start == UTF8_MARK:
        stream.read(3)
    return stream


def _lines(stream: io.BufferedReader) -> Iterator[Entry]:
    """Bytes that are no UTF-8 become half surrogates, which no URL has."""
    number = 0
    while line := stream.readline(LONGEST_LINE_BYTES):
        number += 1
        if len(line) == LONGEST_LINE_BYTES and not line.endswith(b"\n"):
            while (rest := stream.readline(LONGEST_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield Entry(number, line[:200].decode("utf-8", "replace"), f"longer than {LONGEST_LINE_BYTES} bytes")
        else:
            yield Entry(number, line.decode("utf-8", "surrogateescape"))


def _says_something(text: str) -> bool:
    return not text.isspace() and not text.lstrip().startswith("#")


def _form_of_start(start: bytes) -> Form:
    lines = start.decode("utf-8", "replace").splitlines()
    line = next((line.strip() for line in lines if line and _says_something(line)), "")
    if line.startswith("["):
        return Form.JSON
    if line.startswith(("{", '"{')):
        return Form.NDJSON if _is_json(line) else Form.JSON
    cells = _cells(line, _delimiter_of(line))
    return Form.CSV if any(cell in URL_COLUMNS for cell in cells) else Form.TEXT


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _of_text(lines: Iterator[Entry]) -> Iterator[Entry]:
    for line in lines:
        if _says_something(line.text):
            yield line._replace(text=line.text.strip())


def _of_ndjson(lines: Iterator[Entry]) -> Iterator[Entry]:
    for line in lines:
        if line.refusal:
            yield line
        elif _says_something(line.text):
            yield _of_json_line(line)


def _of_json_line(line: Entry) -> Entry:
    try:
        value = json.loads(line.text)
    except (ValueError, RecursionError) as error:
        return Entry(line.line, line.text.strip()[:200], f"not JSON: {error}")
    return _of_value(line.line, value)


def _of_value(number: int, value: Any) -> Entry:
    url = value.get("url") if isinstance(value, dict) else value
    if isinstance(url, str):
        return Entry(number, url.strip())
    shown = json.dumps(value, ensure_ascii=False)[:200]
    return Entry(number, shown, 'has no text "url"' if isinstance(value, dict) else "neither an object nor a text")


def _of_json(stream: io.BufferedReader) -> Iterator[Entry]:
    """The whole document at once; numbers are places in the list."""
    text = stream.read(LARGEST_JSON_BYTES + 1)
    if text.isspace() or not text:
        return
    if len(text) > LARGEST_JSON_BYTES:
        raise TooLarge("JSON of more than 16 MB; send it as NDJSON, one object a line")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(field="file", reason=f"Not JSON: {error}") from None
    listed = document
    if isinstance(document, dict):
        listed = document.get("urls", document.get("products", [document] if "url" in document else None))
    if not isinstance(listed, list):
        raise InvalidInput(field="file", reason='Expected a list of URLs, or an object with "urls"')
    yield from (_of_value(number, value) for number, value in enumerate(listed, 1))


def _of_csv(lines: Iterator[Entry]) -> Iterator[Entry]:
    head = next((line for line in lines if _says_something(line.text)), None)
    if head is None:
        return
    delimiter = _delimiter_of(head.text)
    column, has_header = _url_column(head.text, delimiter)
    at = _Position(lines if has_header else chain([head], lines), head.line)
    rows = csv.reader(at, delimiter=delimiter)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield Entry(at.line, "", f"not CSV: {error}")
            continue
        if any(row) and not row[0].lstrip().startswith("#"):
            yield _of_row(at, row, column)


def _of_row(at: _Position, row: list[str], column: int) -> Entry:
    if at.refused:
        refused, at.refused = at.refused, None
        return refused
    if column >= len(row):
        return Entry(at.line, " ".join(row)[:200], f"has no column {column + 1}")
    return Entry(at.line, row[column].strip())


class _Position:
    """Lines for the CSV reader, which itself counts only those that it was given."""

    def __init__(self, lines: Iterator[Entry], line: int) -> None:
        self.lines = lines
        self.line = line
        self.refused: Entry | None = None

    def __iter__(self) -> Iterator[str]:
        for entry in self.lines:
            self.line = entry.line
            if entry.refusal:
                self.refused = entry
            yield entry.text


def _delimiter_of(line: str) -> str:
    """The one that makes a cell named url, else the most frequent."""
    named = [one for one in DELIMITERS if any(cell in URL_COLUMNS for cell in _cells(line, one))]
    return max(named or DELIMITERS, key=line.count)


def _cells(line: str, delimiter: str) -> list[str]:
    """Of a line of names; longer ones are none."""
    return [cell.strip().lower() for cell in next(csv.reader([line.strip()[:10_000]], delimiter=delimiter), [])]


def _url_column(line: str, delimiter: str) -> tuple[int, bool]:
    """Which column has the URLs, and whether this line is a header."""
    cells = _cells(line, delimiter)
    for name in URL_COLUMNS:
        if name in cells:
            return cells.index(name), True
    for number, cell in enumerate(cells):
        if cell.startswith(("http://", "https://")):
            return number, False
    listed = ", ".join(cells)[:200]
    raise InvalidInput(field="file", reason=f"The CSV has no column named url; its first line has: {listed}")


READERS: dict[Form, Callable[[Iterator[Entry]], Iterator[Entry]]] = {
    Form.TEXT: _of_text,
    Form.CSV: _of_csv,
    Form.NDJSON: _of_ndjson,
}
