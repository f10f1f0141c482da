"""Places and records read back."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.archive import Location, RecordUnreadable, open_archive, open_reader, read
from crawler.archive.members import MAX_UNPACKED_BYTES, pack_page, pack_small, store, unpack, whole_end
from tests.unit.archive.captures import MOMENT, capture


@given(path=st.text(min_size=1).filter(lambda path: not path.startswith("/") and ".." not in path.split("/")))
def test_places_survive_being_written_down(path: str) -> None:
    place = Location(path, 12, 345)
    assert str(place) == f"{path}#12+345"
    assert Location.parse(str(place)) == place


@pytest.mark.parametrize(
    "text",
    ["", "a", "a#1", "#1+2", "a#1+", "a#+1", "a#-1+2", "a#1+0", "a#1+²", "/etc/x#0+9", "../x#0+9", "a/../../x#0+9"],
)
def test_what_is_no_place_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a place"):
        Location.parse(text)
    with pytest.raises(RecordUnreadable):
        read(tmp_path.as_uri(), text)


def test_a_record_tells_all(tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nnoise\r\nSet-Cookie: b=2\r\n folded\r\n\tmore\r\nX:\xe9"
    archive = open_archive(tmp_path)
    place = archive.add(capture(body=b"\r\n\r\nbody\r\n\r\n", response_block=block))
    archive.close()
    record = open_reader(tmp_path)(str(place))
    assert (record.kind, record.url, record.fetched_at) == ("response", "https://example.com/page", MOMENT)
    assert (record.status_line, record.status) == ("HTTP/1.1 200 OK", 200)
    assert record.headers == (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2 folded more"), ("X", "é"))
    assert record.header("set-cookie") == "a=1, b=2 folded more"
    assert record.body == b"\r\n\r\nbody\r\n\r\n"


@pytest.mark.parametrize("change", [(1, 0), (0, 1), (0, -1)])
def test_a_place_that_is_off_is_refused(tmp_path: Path, change: tuple[int, int]) -> None:
    archive = open_archive(tmp_path)
    place = archive.add(capture())
    archive.close()
    wrong = Location(place.path, place.offset + change[0], place.length + change[1])
    with pytest.raises(RecordUnreadable, match="damaged"):
        read(archive.url, str(wrong))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense",
        b"WARC/1.1\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: 9\r\n\r\nab\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: x",
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, content: bytes) -> None:
    member = gzip.compress(content)
    (tmp_path / "a.warc.gz").write_bytes(member)
    with pytest.raises(RecordUnreadable, match="damaged"):
        read(tmp_path.as_uri(), f"a.warc.gz#0+{len(member)}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordUnreadable, match=r"no file a\.warc\.gz"):
        read(tmp_path.as_uri(), "a.warc.gz#0+10")


def test_members_far_larger_unpacked_are_walked_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "members"
    whole = pack_page(bytes(3 * MAX_UNPACKED_BYTES)) + pack_small(b"small")
    file.write_bytes(whole + pack_page(b"torn")[:-1])
    with file.open("rb") as opened:
        assert whole_end(opened, 0) == len(whole)


@pytest.mark.parametrize("size", [1, 65534, 65535, 65536, 131070, 200000])
def test_stored_members_are_members(size: int) -> None:
    record = bytes(range(256)) * (size // 256 + 1)
    assert gzip.decompress(store(record[:size])) == unpack(store(record[:size])) == record[:size]
