"""Object stores: each turn one object, put whole, read by one range."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from crawler.archive import ArchiveUnavailable, RecordUnreadable, open_archive, read
from crawler.archive.objects import ObjectShelf, Options
from crawler.archive.writing import ROTATE_BYTES, WarcArchive
from tests.unit.archive.captures import capture, seen_in


def test_each_turn_is_one_object(tmp_path: Path) -> None:
    archive = WarcArchive(ObjectShelf(tmp_path.as_uri()), prefix="p", rotate_bytes=ROTATE_BYTES, about={})
    places = []
    for turn in range(3):
        places += [archive.add(capture(body=b"%d" % turn)), archive.add(capture(body=b"%d!" % turn))]
        archive.secure()
        archive.secure()  # nothing new, no object
    archive.close()
    files = sorted(tmp_path.iterdir())
    assert [len(seen_in(file)) for file in files] == [7, 7, 7]
    assert [place.path for place in places] == [file.name for file in files for _ in range(2)]
    assert [read(archive.url, str(place)).body for place in places] == [b"0", b"0!", b"1", b"1!", b"2", b"2!"]


def test_a_store_in_memory() -> None:
    archive = open_archive("memory:///")
    place = archive.add(capture())
    archive.close()
    assert read("memory:///", str(place)).body == b"<p>hello</p>"
    with pytest.raises(RecordUnreadable, match="no object"):
        read("memory:///", "other.warc.gz#0+10")


class Bucket(BaseHTTPRequestHandler):
    """As much of S3 as an archive needs."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.bucket.calls.append(f"PUT {self.path}")
        if self.bucket.failing:
            return self.answer(403, b"<Error><Code>QuotaExceeded</Code></Error>")
        self.bucket.objects[self.path] = content
        self.answer(200, b"", ETag='"1"')

    def do_GET(self) -> None:
        self.bucket.calls.append(f"GET {self.headers['Range']}")
        content = self.bucket.objects.get(self.path)
        if content is None:
            return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        span = f"bytes {first}-{last}/{len(content)}"
        when = "Sun, 15 Nov 2026 12:00:00 GMT"
        self.answer(206, content[first : last + 1], **{"Content-Range": span, "ETag": '"1"', "Last-Modified": when})

    def answer(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    @property
    def bucket(self) -> BucketServer:
        assert isinstance(self.server, BucketServer)
        return self.server

    def log_message(self, *args: Any) -> None:
        pass


class BucketServer(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Bucket)
        self.objects: dict[str, bytes] = {}
        self.calls: list[str] = []
        self.failing = False

    @property
    def options(self) -> Options:
        endpoint = f"http://127.0.0.1:{self.server_address[1]}"
        return (("endpoint", endpoint), ("region", "x"), ("skip_signature", "true"), ("allow_http", "true"))


@pytest.fixture
def bucket() -> Iterator[BucketServer]:
    with BucketServer() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield server
        server.shutdown()


def test_s3_one_put_a_turn_and_one_range_a_read(bucket: BucketServer) -> None:
    archive = open_archive("s3://bucket/crawls", options=bucket.options)
    place = archive.add(capture(body=b"in the cloud"))
    archive.close()
    assert read(archive.url, str(place), options=bucket.options).body == b"in the cloud"
    first, last = place.offset, place.offset + place.length - 1
    assert bucket.calls == [f"PUT /bucket/crawls/{place.path}", f"GET bytes={first}-{last}"]


def test_s3_that_refuses_loses_nothing(bucket: BucketServer) -> None:
    archive = open_archive("s3://bucket", options=bucket.options)
    places = [archive.add(capture(body=b"one"))]
    bucket.failing = True
    with pytest.raises(ArchiveUnavailable, match="cannot write to the archive at s3://bucket"):
        archive.secure()
    places.append(archive.add(capture(body=b"two")))
    bucket.failing = False
    archive.secure()
    archive.close()
    assert [read(archive.url, str(place), options=bucket.options).body for place in places] == [b"one", b"two"]
    (content,) = bucket.objects.values()
    assert len(seen_in(content)) == 7


def test_s3_without_the_object(bucket: BucketServer) -> None:
    with pytest.raises(RecordUnreadable):
        read("s3://bucket", "gone.warc.gz#0+10", options=bucket.options)


def test_an_address_that_means_nothing_is_named() -> None:
    with pytest.raises(ArchiveUnavailable, match=r"cannot use the archive at nowhere://bucket: [^\n]+\Z"):
        open_archive("nowhere://bucket")
    with pytest.raises(ArchiveUnavailable, match=r"archive at s3://bucket: [^\n]*nonsense[^\n]*\Z"):
        open_archive("s3://bucket", options=(("nonsense", "1"),))
