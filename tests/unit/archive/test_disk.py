"""Files in a folder: rotation, names, what a crash and a full disk leave behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.archive import Archive, ArchiveUnavailable, Location, open_archive, read
from crawler.archive.disk import DiskShelf
from crawler.archive.marker import Marker, marker_of
from crawler.archive.repair import repair_folder
from tests.unit.archive.captures import capture, seen_in

ROOT = Path(__file__).resolve().parents[3]


def body_of(number: int) -> bytes:
    """Does not compress, so that sizes are known."""
    return b"%d:" % number + os.urandom(2000)


def warcs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.warc.gz"))


def assert_tidy(folder: Path) -> None:
    """No markers, and every file opens to its last byte."""
    assert not list(folder.glob("*.open"))
    for file in warcs(folder):
        assert seen_in(file)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    opened = open_archive(tmp_path)
    yield opened
    opened.close()


def test_nothing_is_written_before_it_is_secured(tmp_path: Path, archive: Archive) -> None:
    archive.add(capture())
    assert not warcs(tmp_path)
    assert archive.pending_bytes > 500
    archive.secure()
    assert archive.pending_bytes == 0
    assert len(warcs(tmp_path)) == 1


def test_an_archive_that_got_nothing_leaves_nothing(tmp_path: Path, archive: Archive) -> None:
    archive.secure()
    archive.close()
    assert not list(tmp_path.iterdir())


def test_what_is_secured_reads_while_the_file_grows(archive: Archive) -> None:
    bodies = {}
    for number in range(5):
        body = body_of(number)
        bodies[str(archive.add(capture(body=body)))] = body
        archive.secure()
        assert {place: read(archive.url, place).body for place in bodies} == bodies


def test_files_are_rotated_by_size(tmp_path: Path) -> None:
    archive = open_archive(tmp_path, rotate_bytes=6000)
    places = []
    for number in range(10):
        places.append(archive.add(capture(body=body_of(number))))
        if number == 7:  # also within one turn
            archive.secure()
    archive.close()
    assert len({place.path for place in places}) == len(warcs(tmp_path)) == 5
    assert [seen_in(file)[0].kind for file in warcs(tmp_path)] == ["warcinfo"] * 5
    assert [read(archive.url, str(place)).body[:2] for place in places] == [b"%d:" % n for n in range(10)]
    assert_tidy(tmp_path)


def test_two_writers_never_share_a_file(tmp_path: Path) -> None:
    places = []
    for archive in [open_archive(tmp_path) for _ in range(5)]:
        places.append(archive.add(capture()))
        archive.close()
    assert len({place.path for place in places}) == 5


def test_a_file_being_written_is_marked_and_left_alone(tmp_path: Path, archive: Archive) -> None:
    place = archive.add(capture())
    archive.secure()
    file = tmp_path / place.path
    with file.open("ab") as torn:
        torn.write(b"\x1f\x8b half a record")
    size = file.stat().st_size
    assert not repair_folder(tmp_path)
    assert file.stat().st_size == size
    archive.close()
    assert not list(tmp_path.glob("*.open"))


def left_behind(folder: Path, *, noted: bool) -> tuple[Path, Location, int]:
    """A file as a killed writer leaves it: one record secured, a second one being written."""
    archive = open_archive(folder)
    first = archive.add(capture(body=body_of(1)))
    archive.secure()
    secured_size = (folder / first.path).stat().st_size
    archive.add(capture(body=body_of(2)))
    archive.close()
    file = folder / first.path
    marker = Marker.create(marker_of(file))
    if noted:
        marker.note_safe_end(secured_size)
    marker.release()
    return file, first, secured_size


@pytest.mark.parametrize("noted", [True, False])
@pytest.mark.parametrize("kept_bytes", [0, 1, 9, 10, 11, 500, 2000, 2400])
def test_a_torn_tail_is_cut_on_the_next_opening(tmp_path: Path, kept_bytes: int, noted: bool) -> None:
    file, first, secured_size = left_behind(tmp_path, noted=noted)
    os.truncate(file, secured_size + kept_bytes)
    (repair,) = DiskShelf(tmp_path).repaired
    assert repair.name == file.name
    assert repair.size == file.stat().st_size >= secured_size
    assert repair.size + repair.cut_bytes == secured_size + kept_bytes
    assert read(tmp_path.as_uri(), str(first)).body.startswith(b"1:")
    assert_tidy(tmp_path)


def test_a_hole_after_a_power_cut_ends_the_file(tmp_path: Path) -> None:
    file, _, secured_size = left_behind(tmp_path, noted=True)
    with file.open("r+b") as damaged:
        damaged.seek(secured_size + 100)
        damaged.write(bytes(200))
    repair_folder(tmp_path)
    assert file.stat().st_size == secured_size
    assert_tidy(tmp_path)


def test_a_whole_file_of_a_killed_writer_stays_whole(tmp_path: Path) -> None:
    file, _, _ = left_behind(tmp_path, noted=True)
    size = file.stat().st_size
    repair_folder(tmp_path)
    assert file.stat().st_size == size
    assert_tidy(tmp_path)


def test_a_file_without_a_whole_record_goes(tmp_path: Path) -> None:
    file, _, _ = left_behind(tmp_path, noted=False)
    os.truncate(file, 20)
    repair_folder(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_marker_without_a_file_goes(tmp_path: Path) -> None:
    (tmp_path / "gone.warc.gz.open").touch()
    assert not repair_folder(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("note", [b"", b"nonsense", b"99999999999999999999\n", b"%020d\n" % 10**9])
def test_a_useless_note_costs_only_time(tmp_path: Path, note: bytes) -> None:
    file, _, secured_size = left_behind(tmp_path, noted=False)
    os.truncate(file, secured_size + 10)
    marker_of(file).write_bytes(note)
    repair_folder(tmp_path)
    assert file.stat().st_size == secured_size
    assert_tidy(tmp_path)


WRITE_UNTIL_KILLED = """
import os, sys
from pathlib import Path
from crawler.archive import open_archive
from tests.unit.archive.captures import capture
archive = open_archive(Path(sys.argv[1]), rotate_bytes=400_000)
number = 0
while True:
    places = []
    for _ in range(20):
        number += 1
        places.append(str(archive.add(capture(f"http://h/{number}", os.urandom(4000)))))
    archive.secure()
    print(*places, flush=True)
"""


@pytest.mark.parametrize("turns", [1, 2, 5, 12])
def test_kill_9_loses_nothing_that_was_secured(tmp_path: Path, turns: int) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITE_UNTIL_KILLED, tmp_path], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout
    places = [place for _ in range(turns) for place in writer.stdout.readline().split()]
    writer.kill()
    places += [place for line in writer.communicate()[0].splitlines() for place in line.split()]
    assert list(tmp_path.glob("*.open"))
    archive = open_archive(tmp_path)
    archive.close()
    assert_tidy(tmp_path)
    assert [read(archive.url, place).url for place in places] == [f"http://h/{n + 1}" for n in range(len(places))]


FULL_DISK = """
import resource, sys
from pathlib import Path
from crawler.archive import ArchiveUnavailable, open_archive, read
from tests.unit.archive.captures import capture, seen_in
from tests.unit.archive.test_disk import assert_tidy, body_of

def let_files_have(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

folder = Path(sys.argv[1])
archive = open_archive(folder)
places = [archive.add(capture(body=body_of(0)))]
archive.secure()
(file,) = folder.glob("*.warc.gz")
secured = file.read_bytes()

let_files_have(len(secured) + 3000)  # room for the next record, not for all
for turn in (1, 2, 3):
    places += [archive.add(capture(body=body_of(2 * turn + more))) for more in (-1, 0)]
    pending = archive.pending_bytes
    try:
        archive.secure()
    except ArchiveUnavailable as error:
        assert str(error) == f"cannot write to the archive folder {folder}: File too large", error
    else:
        raise AssertionError("the disk was not full")
    assert file.read_bytes() == secured, "cut back to what was safe"
    assert archive.pending_bytes == pending, "kept in memory"
    assert read(archive.url, str(places[0])).body[:2] == b"0:"

let_files_have(resource.RLIM_INFINITY)
archive.secure()
assert archive.pending_bytes == 0
places.append(archive.add(capture(body=body_of(7))))
archive.close()
assert [read(archive.url, str(place)).body[:2] for place in places] == [b"%d:" % n for n in range(8)]
assert len(seen_in(file)) == 1 + 3 * 8, "nothing twice"
assert_tidy(folder)
"""


def test_a_full_disk_loses_nothing_and_writes_nothing_twice(tmp_path: Path) -> None:
    """A limit on file sizes stands for the full disk: the write stops in the middle, then fails, in the same place."""
    done = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


FULL_FROM_THE_START = """
import resource, sys
from pathlib import Path
from crawler.archive import ArchiveUnavailable, open_archive
from tests.unit.archive.captures import capture
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
archive = open_archive(Path(sys.argv[1]))
archive.add(capture())
try:
    archive.close()
except ArchiveUnavailable:
    sys.exit(7)
"""


def test_closing_on_a_full_disk_says_so_and_lets_go(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_FROM_THE_START, tmp_path], cwd=ROOT, capture_output=True)
    assert done.returncode == 7, done.stderr
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ArchiveUnavailable, match=f"{tmp_path}/file/archive: Not a directory"):
        open_archive(tmp_path / "file" / "archive")


def test_a_folder_that_is_gone_comes_back_and_all_is_well(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    archive = open_archive(folder)
    place = archive.add(capture())
    folder.rmdir()
    with pytest.raises(ArchiveUnavailable, match="No such file or directory"):
        archive.secure()
    folder.mkdir()
    archive.close()
    assert read(archive.url, str(place)).body == b"<p>hello</p>"
    assert_tidy(folder)


def test_without_syncs_the_bytes_are_the_same(tmp_path: Path) -> None:
    archive = open_archive(tmp_path, sync=False)
    place = archive.add(capture())
    archive.close()
    assert read(archive.url, str(place)).body == b"<p>hello</p>"
    assert_tidy(tmp_path)


def failing(*args: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_failed_sync_counts_as_nothing_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only stand-in here: there is no other way to make a disk fail in its sync."""
    archive = open_archive(tmp_path)
    places = [archive.add(capture(body=b"0"))]
    archive.secure()
    size = warcs(tmp_path)[0].stat().st_size
    places.append(archive.add(capture(body=b"1")))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", failing)
        with pytest.raises(ArchiveUnavailable, match="Input/output error"):
            archive.secure()
    assert warcs(tmp_path)[0].stat().st_size == size
    archive.close()
    assert [read(archive.url, str(place)).body for place in places] == [b"0", b"1"]
    assert_tidy(tmp_path)


def test_a_file_that_cannot_be_cut_back_is_left_to_repair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = open_archive(tmp_path)
    place = archive.add(capture())
    archive.secure()
    archive.add(capture())
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", failing)
        patched.setattr(os, "ftruncate", failing)
        with pytest.raises(ArchiveUnavailable):
            archive.close()
    assert list(tmp_path.glob("*.open"))
    with (tmp_path / place.path).open("ab") as torn:
        torn.write(b"\x1f\x8b half a record")
    assert [repair.name for repair in repair_folder(tmp_path)] == [place.path]
    assert read(archive.url, str(place)).body == b"<p>hello</p>"
    assert_tidy(tmp_path)
