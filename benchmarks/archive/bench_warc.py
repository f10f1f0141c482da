"""Archiving pages: request, response and metadata records, each a gzip member, beside warcio and fastwarc.

Run as ``python -m benchmarks.archive.bench_warc``; warcio and fastwarc have to be installed. The pages are those of
Debian's openjdk-17-doc of about 35 KB (benchmarks/corpora.py says where they come from). They are archived once as they
are and once as a server with gzip sends them.

Each side writes a file. Ours also syncs it, every 200 pages as a worker does. The time is that of the processor. The
sides take turns, and the fastest round of each counts. warcio computes its digests itself, fastwarc is asked for none.
"""

import gzip
import hashlib
import io
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.corpora import OPENJDK, folder_of
from crawler.archive import Capture, open_archive

PAGE_BYTES = range(25_000, 50_000)
PAGE_COUNT = 200
TURN_PAGES = 200
ROUNDS = 5
TARGET_MICROSECONDS = 90
SITE = "https://docs.example.org/api"
REQUEST = (
    "GET /api/{} HTTP/1.1\r\nHost: docs.example.org\r\nUser-Agent: Crawlspace/0.1 (+https://example.org/bot)\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept: */*\r\n\r\n"
)
RESPONSE = (
    "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 15 Nov 2026 12:00:00 GMT\r\nContent-Type: text/html\r\n"
    'Content-Length: {}\r\nLast-Modified: Tue, 22 Oct 2024 10:00:00 GMT\r\nETag: "67177a80-88b8"\r\n'
    "Connection: keep-alive{}"
)

Side = Callable[[Path, list[Capture]], None]


def ours(file: Path, captures: list[Capture]) -> None:
    archive = open_archive(file.with_suffix(".folder"))
    rest = iter(captures)
    while turn := list(islice(rest, TURN_PAGES)):
        for capture in turn:
            archive.add(capture)
        archive.secure()
    archive.close()
    (written,) = file.with_suffix(".folder").iterdir()
    written.rename(file)


def warcio(file: Path, captures: list[Capture]) -> None:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    def http(block: bytes, protocol: str) -> Any:
        first, *lines = block.decode("latin-1").strip().split("\r\n")
        headers = [tuple(line.split(": ", 1)) for line in lines]
        return StatusAndHeaders(first.partition(" ")[2], headers, protocol=protocol)

    with file.open("wb") as output:
        writer = WARCWriter(output, gzip=True, warc_version="1.1")
        for each in captures:
            fields = {"WARC-IP-Address": each.address, "WARC-Date": "2026-11-15T12:00:00.123456Z"}
            blocks = {"response": (each.response_block, each.body), "request": (each.request_block, b"")}
            for kind, (block, body) in blocks.items():
                headers = http(block, "HTTP/1.1" if kind == "response" else "GET")
                record = writer.create_warc_record(
                    each.url, kind, io.BytesIO(body), len(body), warc_headers_dict=dict(fields), http_headers=headers
                )
                writer.write_record(record)
            block = io.BytesIO(_metadata(each))
            writer.write_record(writer.create_warc_record(each.url, "metadata", block, warc_headers_dict=dict(fields)))


def fastwarc(level: int) -> Side:
    def side(file: Path, captures: list[Capture]) -> None:
        from fastwarc.stream_io import GzipWriter
        from fastwarc.warc import WarcRecord, WarcRecordType

        stream = GzipWriter(str(file), compression_level=level)
        for each in captures:
            blocks = (
                (WarcRecordType.response, each.response_block + b"\r\n\r\n" + each.body),
                (WarcRecordType.request, each.request_block),
                (WarcRecordType.metadata, _metadata(each)),
            )
            for kind, block in blocks:
                record = WarcRecord()
                record.init_headers(record_type=kind)
                record.headers["WARC-Target-URI"] = each.url
                record.headers["WARC-IP-Address"] = each.address
                record.set_bytes_content(block)
                record.write(stream)
                stream.finish()
        stream.close()

    return side


SIDES: dict[str, Side] = {
    "ours": ours,
    "fastwarc, level 1": fastwarc(1),
    "fastwarc, level 6": fastwarc(6),
    "warcio, its level 9": warcio,
}


def _metadata(capture: Capture) -> bytes:
    fields = {"fetchTimeMs": int(capture.seconds * 1000), **capture.extra}
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()


def run() -> list[dict[str, Any]]:
    """For each kind of page and side: microseconds and bytes a page, and the ratios to ours."""
    pages = list(islice(_pages(), PAGE_COUNT))
    kinds = {"as they are": _captures(pages, packed=False), "sent gzipped": _captures(pages, packed=True)}
    return [figure for kind, captures in kinds.items() for figure in _figures(kind, captures)]


def _figures(kind: str, captures: list[Capture]) -> list[dict[str, Any]]:
    seconds, sizes = dict.fromkeys(SIDES, float("inf")), dict.fromkeys(SIDES, 0)
    for _ in range(ROUNDS):
        for name, side in SIDES.items():
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "pages.warc.gz"
                started = time.process_time()
                side(file, captures)
                seconds[name] = min(seconds[name], time.process_time() - started)
                sizes[name] = file.stat().st_size
    body_bytes = sum(len(each.body) for each in captures) // len(captures)
    return [
        {
            "kind": kind,
            "name": name,
            "body_bytes": body_bytes,
            "microseconds_per_page": seconds[name] / len(captures) * 1e6,
            "bytes_per_page": sizes[name] / len(captures),
            "times_our_time": seconds[name] / seconds["ours"],
            "times_our_size": sizes[name] / sizes["ours"],
            "met": seconds[name] / len(captures) * 1e6 <= TARGET_MICROSECONDS if name == "ours" else None,
        }
        for name in SIDES
    ]


def _captures(pages: list[tuple[str, bytes]], *, packed: bool) -> list[Capture]:
    captures = []
    for name, page in pages:
        body = gzip.compress(page, 6) if packed else page
        captures.append(
            Capture(
                url=f"{SITE}/{name}",
                fetched_at=datetime.now(UTC),
                request_block=REQUEST.format(name).encode(),
                response_block=RESPONSE.format(len(body), "\r\nContent-Encoding: gzip" * packed).encode(),
                body=body,
                payload_sha256=hashlib.sha256(body).hexdigest(),
                address="127.0.0.1",
                seconds=0.0123,
                extra={"via": f"{SITE}/index.html", "hopsFromSeed": "LL", "charset": "utf-8"},
            )
        )
    return captures


def _pages() -> Iterator[tuple[str, bytes]]:
    folder = folder_of(OPENJDK)
    found = [path for path in sorted(folder.rglob("*.html")) if path.stat().st_size in PAGE_BYTES]
    for path in found[:: max(len(found) // PAGE_COUNT, 1)]:
        yield path.relative_to(folder).as_posix(), path.read_bytes()


def _line(figure: dict[str, Any]) -> str:
    line = "{microseconds_per_page:8.1f} µs  {times_our_time:6.2f}× our time".format(**figure)
    line += "  {bytes_per_page:8,.0f} bytes  {times_our_size:5.2f}× our size  {name}".format(**figure)
    if figure["met"] is not None:
        line += f"   target {TARGET_MICROSECONDS} µs: {'met' if figure['met'] else 'MISSED'}"
    return line


def main() -> None:
    kind = ""
    for figure in run():
        if figure["kind"] != kind:
            kind = figure["kind"]
            print(f"pages {kind}, bodies of {figure['body_bytes']:,} bytes")
        print(_line(figure))


if __name__ == "__main__":
    main()
