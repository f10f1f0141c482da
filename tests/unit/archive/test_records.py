"""What is written: WARC 1.1, as warcio reads it with digests checked."""

from __future__ import annotations

import gzip
import hashlib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.archive import Capture, Location, Original, open_archive, read
from crawler.archive.writing import Shelf, WarcArchive
from tests.unit.archive.captures import MOMENT, Seen, capture, seen_in


def archived(folder: Path, *captures: Capture) -> list[Seen]:
    archive = open_archive(folder)
    for one in captures:
        archive.add(one)
    archive.close()
    (file,) = folder.iterdir()
    return seen_in(file)


def test_a_capture_is_three_linked_records(tmp_path: Path) -> None:
    info, response, request, metadata = archived(tmp_path, capture())
    assert [one.kind for one in (info, response, request, metadata)] == ["warcinfo", "response", "request", "metadata"]
    response_id = response.fields["WARC-Record-ID"]
    assert request.fields["WARC-Concurrent-To"] == metadata.fields["WARC-Concurrent-To"] == response_id
    for one in (response, request, metadata):
        assert one.fields["WARC-Target-URI"] == "https://example.com/page"
        assert one.fields["WARC-Date"] == "2026-11-15T12:30:45.123456Z"
        assert one.fields["WARC-IP-Address"] == "192.0.2.7"
    assert (response.status, response.content) == ("200 OK", b"<p>hello</p>")
    assert response.headers == {"Content-Type": "text/html; charset=utf-8", "Server": "test"}
    assert response.fields["WARC-Payload-Digest"] == "sha256:" + hashlib.sha256(b"<p>hello</p>").hexdigest()
    assert request.headers["User-Agent"] == "Crawlspace/0.1"
    assert metadata.content == b"fetchTimeMs: 250\r\ncharset: utf-8\r\ndepth: 2\r\n"


def test_the_first_record_describes_the_file(tmp_path: Path) -> None:
    archive = open_archive(tmp_path, prefix="news", about={"software": "Crawlspace/1", "operator": "a\nb"})
    location = archive.add(capture())
    archive.close()
    info = seen_in(tmp_path / location.path)[0]
    assert info.fields["WARC-Filename"] == location.path
    assert location.path.startswith("news-")
    assert b"software: Crawlspace/1\r\noperator: a b\r\n" in info.content


def test_record_ids_are_uuids_of_their_own(tmp_path: Path) -> None:
    ids = [one.fields["WARC-Record-ID"] for one in archived(tmp_path, *[capture()] * 20)]
    uuids = {UUID(one.removeprefix("<urn:uuid:").removesuffix(">")) for one in ids}
    assert len(uuids) == len(ids)
    assert {uuid.version for uuid in uuids} == {8}


@pytest.mark.parametrize(
    ("reason", "written"),
    [
        ("length", "length"),
        ("time", "time"),
        ("disconnect", "disconnect"),
        ("incomplete", "disconnect"),
        ("?", "unspecified"),
    ],
)
def test_a_cut_body_is_said_to_be_cut(tmp_path: Path, reason: str, written: str) -> None:
    assert archived(tmp_path, capture(truncated=reason))[1].fields["WARC-Truncated"] == written


def test_a_body_that_is_no_longer_chunked_is_not_said_to_be(tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\ntransfer-Encoding: chunked\r\nServer: test\r\n"
    response = archived(tmp_path, capture(response_block=block))[1]
    assert response.headers == {"X-Crawler-transfer-Encoding": "chunked", "Server": "test"}


def test_http_2_is_written_in_the_form_that_readers_know(tmp_path: Path) -> None:
    sent = b"GET / HTTP/2\r\nHost: example.com\r\n\r\n"
    got = capture(response_block=b"HTTP/2 404 \r\nserver: test", request_block=sent)
    location = (archive := open_archive(tmp_path)).add(got)
    archive.close()
    record = read(archive.url, str(location))
    assert (record.status_line.strip(), record.status) == ("HTTP/1.1 404", 404)
    assert record.fields["warc-protocol"] == "h2"
    assert b"\r\nGET / HTTP/1.1\r\nHost: example.com\r\n" in gzip.decompress((tmp_path / location.path).read_bytes())


def test_header_lines_with_nothing_in_them_do_not_end_the_headers(tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\nA: 1\r\n \t\r\nB: 2\r\n\xc2\xa0\r\nC: 3\r\n \xe6\x97\xa5\r\n  \r\n\r\n"
    response = archived(tmp_path, capture(response_block=block))[1]
    assert list(response.headers) == ["A", "B", "C"]
    assert response.content == b"<p>hello</p>"


@pytest.mark.parametrize(
    ("header", "stored"),
    [
        (b"Content-Encoding: gzip", True),
        (b"content-encoding:br", True),
        (b"Content-Encoding: identity", False),
        (b"Content-Type: image/png", True),
        (b"Content-Type: image/svg+xml", False),
        (b"Content-Type: text/html", False),
    ],
)
def test_what_is_compressed_already_is_stored_as_it_is(tmp_path: Path, header: bytes, stored: bool) -> None:
    body = b"as it is, " * 10_000
    archive = open_archive(tmp_path)
    place = archive.add(capture(body=body, response_block=b"HTTP/1.1 200 OK\r\n" + header))
    archive.close()
    assert (place.length > len(body)) is stored
    assert seen_in(tmp_path / place.path)[1].content == read(archive.url, str(place)).body == body


def test_urls_never_break_a_header_line(tmp_path: Path) -> None:
    response = archived(tmp_path, capture("http://h/a b\r\nX: y/ü?q=%20"))[1]
    assert response.fields["WARC-Target-URI"] == "http://h/a%20b%0D%0AX:%20y/%C3%BC?q=%20"


def test_times_are_written_in_utc(tmp_path: Path) -> None:
    there = datetime(2026, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=2)))
    assert archived(tmp_path, capture(fetched_at=there))[1].fields["WARC-Date"] == "2025-12-31T23:00:00.000000Z"


def test_unchanged_content_is_a_revisit(tmp_path: Path) -> None:
    archive = open_archive(tmp_path)
    first = archive.add(capture())
    same = Original("https://example.com/page", MOMENT, first, "ab" * 32)
    later = MOMENT + timedelta(days=1)
    answer = capture(body=b"", response_block=b'HTTP/1.1 304 Not Modified\r\nETag: "1"', fetched_at=later)
    location = archive.add_revisit(answer, same)
    archive.close()
    _, response, _, _, revisit, request, metadata = seen_in(tmp_path / first.path)
    assert revisit.kind == "revisit"
    assert revisit.fields["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert revisit.fields["WARC-Refers-To"] == response.fields["WARC-Record-ID"]
    assert revisit.fields["WARC-Refers-To-Target-URI"] == "https://example.com/page"
    assert revisit.fields["WARC-Refers-To-Date"] == response.fields["WARC-Date"]
    assert revisit.fields["WARC-Payload-Digest"] == "sha256:" + "ab" * 32
    assert "WARC-Truncated" not in revisit.fields
    assert request.fields["WARC-Concurrent-To"] == metadata.fields["WARC-Concurrent-To"]
    assert request.fields["WARC-Concurrent-To"] == revisit.fields["WARC-Record-ID"]
    record = read(archive.url, str(location))
    assert (record.kind, record.status, record.header("etag"), record.body) == ("revisit", 304, '"1"', b"")


def test_duplicate_content_is_a_revisit_without_its_body(tmp_path: Path) -> None:
    archive = open_archive(tmp_path)
    elsewhere = Original("https://example.org/other", MOMENT, Location("foreign.warc.gz", 7, 7))
    location = archive.add_revisit(capture(body=b"same" * 9), elsewhere)
    archive.close()
    revisit = seen_in(tmp_path / location.path)[1]
    assert revisit.fields["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert revisit.fields["WARC-Payload-Digest"] == "sha256:" + hashlib.sha256(b"same" * 9).hexdigest()
    assert revisit.fields["WARC-Truncated"] == "length"
    assert "WARC-Refers-To" not in revisit.fields
    assert (revisit.status, revisit.content) == ("200 OK", b"")


class Kept:
    """A shelf for one test: what was kept, joined."""

    url = "memory:kept"
    takes_more = True

    def __init__(self) -> None:
        self.content = b""

    def keep(self, volume: object) -> None:
        self.content += b"".join(getattr(volume, "parts", []))

    def finish(self, volume: object) -> None:
        pass

    def close(self) -> None:
        pass


LINE = st.binary(max_size=30).map(lambda value: value.replace(b"\n", b" "))
HEADER = st.one_of(LINE, st.tuples(st.sampled_from([b"Transfer-Encoding", b"A", b" B", b""]), LINE).map(b": ".join))


@given(
    url=st.text(max_size=40).map(lambda tail: "http://example.com/" + tail),
    lines=st.lists(st.tuples(HEADER, st.sampled_from([b"\r\n", b"\n"])).map(b"".join), max_size=6),
    body=st.binary(max_size=300),
    extra=st.dictionaries(st.sampled_from(["via", "charset"]), st.text(max_size=20)),
    moment=st.datetimes(timezones=st.just(UTC)),
)
def test_whatever_comes_every_reader_finds_its_way(
    url: str, lines: list[bytes], body: bytes, extra: dict[str, str], moment: datetime
) -> None:
    shelf: Shelf = (kept := Kept())
    archive = WarcArchive(shelf, prefix="p", rotate_bytes=10**9, about={})
    block = b"HTTP/1.1 200 OK\r\n" + b"".join(lines)
    given_capture = capture(url, body, response_block=block, extra=extra, fetched_at=moment)
    location = archive.add(given_capture)
    archive.add_revisit(given_capture, Original(url, moment, location))
    archive.close()
    kinds = ["warcinfo", "response", "request", "metadata", "revisit", "request", "metadata"]
    found = seen_in(kept.content)
    assert [one.kind for one in found] == kinds
    assert found[1].content == body
    assert found[4].fields["WARC-Refers-To"] == found[1].fields["WARC-Record-ID"]


def test_a_capture_shows_no_bytes_in_its_repr() -> None:
    assert (
        repr(capture(body=b"secret"))
        == "Capture('https://example.com/page', 2026-11-15 12:30:45.123456+00:00, 6 bytes)"
    )
