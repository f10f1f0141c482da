"""The bytes of WARC 1.1 records.

Record ids are UUIDs (version 8) made of the file's random identity and the record's offset: unique without asking
for randomness on every page, and known from the place alone, so a revisit can name its original without reading it.
Payload digests are those of the entity body, which is the body after transfer and before content decoding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote

from crawler.archive.contract import Capture, Original

REVISIT_PROFILE = b"http://netpreserve.org/warc/1.1/revisit/"
TRUNCATION_REASONS = {"length": b"length", "time": b"time", "disconnect": b"disconnect", "incomplete": b"disconnect"}

RESPONSE = (
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%b>\r\n%b%bWARC-Payload-Digest: sha256:%b\r\n"
    b"Content-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%b%b\r\n\r\n"
)
REVISIT = (
    b"WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Record-ID: <urn:uuid:%b>\r\n%b%b"
    b"Content-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
)
REQUEST = (
    b"WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: <urn:uuid:%b>\r\n%bWARC-Concurrent-To: <urn:uuid:%b>\r\n"
    b"Content-Type: application/http;msgtype=request\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
)
METADATA = (
    b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:%b>\r\n%bWARC-Concurrent-To: <urn:uuid:%b>\r\n"
    b"Content-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
)
WARCINFO = (
    b"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:%b>\r\nWARC-Date: %b\r\nWARC-Filename: %b\r\n"
    b"Content-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
)

_COMPRESSED_ALREADY = re.compile(
    rb"\ncontent-(?:encoding:[ \t]*(?!identity)[a-z]|"
    rb"type:[ \t]*(?:image/(?!svg|bmp)|video/|audio/|font/woff|application/g?zip))"
)
_BLANK_LINE = re.compile(rb"\n[^!-~\n]*\n")


def shared_fields(capture: Capture) -> bytes:
    """What all records of one capture say alike."""
    address = capture.address
    at = f"WARC-IP-Address: {address}\r\n" if address else ""
    return f"WARC-Date: {date_of(capture.fetched_at)}\r\nWARC-Target-URI: {uri_of(capture.url)}\r\n{at}".encode("ascii")


def response(record_id: bytes, shared: bytes, capture: Capture) -> bytes:
    head, body = http_head(capture.response_block), capture.body
    digest = capture.payload_sha256.encode("ascii")
    more = peculiarities(capture)
    return RESPONSE % (record_id, shared, more, digest, len(head) + len(body), head, body)


def is_dense(capture: Capture) -> bool:
    """Whether the server says that the body is something that does not compress further."""
    return _COMPRESSED_ALREADY.search(capture.response_block.lower()) is not None


def peculiarities(capture: Capture) -> bytes:
    """The fields that most captures do without."""
    fields = b""
    if capture.truncated:
        fields += b"WARC-Truncated: %b\r\n" % TRUNCATION_REASONS.get(capture.truncated, b"unspecified")
    if capture.response_block.startswith(b"HTTP/2"):
        fields += b"WARC-Protocol: h2\r\n"
    return fields


def revisit(record_id: bytes, shared: bytes, capture: Capture, of: Original, original_id: bytes | None) -> bytes:
    head = http_head(capture.response_block)
    fields = revisit_fields(capture, of)
    if original_id:
        fields += b"WARC-Refers-To: <urn:uuid:%b>\r\n" % original_id
    fields += f"WARC-Refers-To-Target-URI: {uri_of(of.url)}\r\n".encode("ascii")
    fields += f"WARC-Refers-To-Date: {date_of(of.fetched_at)}\r\n".encode("ascii")
    return REVISIT % (record_id, shared, fields, len(head), head)


def revisit_fields(capture: Capture, of: Original) -> bytes:
    """Its profile. An identical payload counts as truncated, one that was never sent does not."""
    if capture.response_block[:40].split(None, 2)[1:2] == [b"304"]:
        profile, digest, cut = b"server-not-modified", of.payload_sha256, b""
    else:
        profile, digest, cut = b"identical-payload-digest", capture.payload_sha256, b"WARC-Truncated: length\r\n"
    fields = b"WARC-Profile: %b%b\r\n%b" % (REVISIT_PROFILE, profile, cut)
    return fields + (b"WARC-Payload-Digest: sha256:%b\r\n" % digest.encode("ascii") if digest else b"")


def request(record_id: bytes, shared: bytes, response_id: bytes, capture: Capture) -> bytes:
    head = http_head(capture.request_block)
    return REQUEST % (record_id, shared, response_id, len(head), head)


def metadata(record_id: bytes, shared: bytes, response_id: bytes, capture: Capture) -> bytes:
    fields = b"fetchTimeMs: %d\r\n" % (capture.seconds * 1000)
    if capture.extra:
        fields += warc_fields(capture.extra)
    return METADATA % (record_id, shared, response_id, len(fields), fields)


def warcinfo(record_id: bytes, made_at: datetime, file_name: str, fields: Mapping[str, object]) -> bytes:
    block = warc_fields(fields)
    return WARCINFO % (record_id, date_of(made_at).encode(), file_name.encode(), len(block), block)


def warc_fields(fields: Mapping[str, object]) -> bytes:
    return "".join([f"{name}: {one_line(value)}\r\n" for name, value in fields.items()]).encode("utf-8", "replace")


def one_line(value: object) -> str:
    text = str(value)
    return text if text.isprintable() else " ".join(text.split())


def date_of(moment: datetime) -> str:
    """As WARC wants it, to the microsecond."""
    text = moment.isoformat("T", "microseconds")
    if not text.endswith("+00:00"):
        text = moment.astimezone(UTC).isoformat("T", "microseconds")
    return text[:26] + "Z"


def uri_of(url: str) -> str:
    """The URL itself when it is fit for a header line, as every parsed one is."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~", errors="replace")


def http_head(block: bytes) -> bytes:
    """The header block and its empty line, such that every reader finds its end and understands what follows.

    A `Transfer-Encoding` is renamed, because the body is no longer encoded so; lines without anything to see, at
    which readers stop, are left out; HTTP/2, which has no first line of its own, is written like HTTP/1.1.
    """
    lines = block.rstrip(b"\r\n") + b"\r\n"
    if b"\ntransfer-encoding" in lines.lower() or _BLANK_LINE.search(lines) or b"HTTP/2" in lines:
        lines = rewritten(lines)
    return lines + b"\r\n"


def rewritten(lines: bytes) -> bytes:
    first, *others = lines.split(b"\n")
    kept = [http1_line(first)]
    for line in others:
        if line[:17].lower() == b"transfer-encoding":
            kept.append(b"X-Crawler-" + line)
        elif has_something_to_see(line):
            kept.append(line)
    return b"\n".join(kept) + b"\n"


def http1_line(first: bytes) -> bytes:
    if first.startswith(b"HTTP/2"):
        return b"HTTP/1.1 " + first.partition(b" ")[2]
    if first.rstrip().endswith(b" HTTP/2"):
        return first.rstrip()[:-1] + b"1.1\r"
    return first


def has_something_to_see(line: bytes) -> bool:
    """However a reader decodes it."""
    return all(text.strip() for text in (line.decode("latin-1"), line.decode("utf-8", "replace")))
