"""Volumes as files of a folder, appended to and synced; the tails of crashed writers' files are repaired on opening.

A failed write (disk full, quota, I/O error) cuts the file back to what was safe. The parts stay in memory until the
sync has succeeded, since after a failed one the kernel may have dropped what was written.
"""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, suppress
from pathlib import Path

from crawler.archive.contract import ArchiveUnavailable
from crawler.archive.marker import Marker, marker_of
from crawler.archive.repair import repair_folder
from crawler.archive.volume import Volume


class DiskShelf:
    """A folder. `sync=False` leaves the moment of writing to the kernel: safe from kill -9, not from a power cut."""

    takes_more = True

    def __init__(self, folder: Path, *, sync: bool = True) -> None:
        self.folder = folder.absolute()
        self.sync = sync
        self.files: dict[str, VolumeFile] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.repaired = repair_folder(self.folder)
        except OSError as error:
            raise self._unavailable(error) from error

    @property
    def url(self) -> str:
        return self.folder.as_uri()

    def keep(self, volume: Volume) -> None:
        try:
            file = self.files.get(volume.name) or self._create(volume.name)
            file.write(b"".join(volume.parts), volume.secured_end)
        except OSError as error:
            raise self._unavailable(error) from error

    def _create(self, name: str) -> VolumeFile:
        file = self.files[name] = VolumeFile(self.folder / name, sync=self.sync)
        return file

    def finish(self, volume: Volume) -> None:
        file = self.files.pop(volume.name, None)
        if file:
            file.close()

    def close(self) -> None:
        for file in self.files.values():
            file.close()
        self.files.clear()

    def _unavailable(self, error: OSError) -> ArchiveUnavailable:
        reason = error.strerror or str(error)
        return ArchiveUnavailable(f"cannot write to the archive folder {self.folder}: {reason}")


class VolumeFile:
    """One open file, marked as being written by a locked file beside it."""

    def __init__(self, path: Path, *, sync: bool) -> None:
        self.path = path
        self.sync = sync
        self.safe_end = 0
        self.torn = False
        with ExitStack() as undo:
            self.marker = Marker.create(marker_of(path))
            undo.callback(self.marker.remove)
            self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            undo.callback(path.unlink)
            undo.callback(os.close, self.descriptor)
            if sync:
                sync_folder(path.parent)
            undo.pop_all()

    def write(self, content: bytes, at: int) -> None:
        """All of it is safe at that place, or the file ends there as before."""
        try:
            write_all(self.descriptor, content, at)
            if self.sync:
                os.fdatasync(self.descriptor)
        except OSError:
            self._cut_back(at)
            raise
        self.torn = False
        self.safe_end = at + len(content)
        if self.sync:
            self.marker.note_safe_end(self.safe_end)

    def _cut_back(self, end: int) -> None:
        self.torn = True
        with suppress(OSError):
            os.ftruncate(self.descriptor, end)
            self.torn = False

    def close(self) -> None:
        """A file that could not be cut back stays marked, so that the next one to open the folder repairs it."""
        os.close(self.descriptor)
        if self.torn:
            return self.marker.release()
        if not self.safe_end:
            with suppress(OSError):
                self.path.unlink()
        self.marker.remove()


def write_all(descriptor: int, content: bytes, at: int) -> None:
    rest = memoryview(content)
    while rest:
        written = os.pwrite(descriptor, rest, at)
        rest, at = rest[written:], at + written


def sync_folder(folder: Path) -> None:
    """The names in it are safe, too. Some network file systems do that by themselves and know no such call."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)
