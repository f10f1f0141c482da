"""Which files are being written: each has a marker beside it that its writer holds locked.

The kernel lets go of the lock when the writer is gone, however it went. So a marker that can be locked belongs to a
file whose end may be broken. In the marker stands up to where the file is known to be whole.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

MARKER_SUFFIX = ".open"


def marker_of(path: Path) -> Path:
    return path.with_name(path.name + MARKER_SUFFIX)


class Marker:
    """A locked marker. Whoever has one may write the file it stands beside."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    @classmethod
    def create(cls, path: Path) -> Self:
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            if is_locked_in_place(descriptor, path):
                return cls(path, descriptor)
            os.close(descriptor)

    @classmethod
    def take_over(cls, path: Path) -> Self | None:
        """The marker of a writer that is gone, or None when it lives or somebody else was faster."""
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return None
        if is_locked_in_place(descriptor, path):
            return cls(path, descriptor)
        os.close(descriptor)
        return None

    def note_safe_end(self, end: int) -> None:
        """Only saves time when the file must be repaired, so it may fail."""
        with suppress(OSError):
            os.pwrite(self.descriptor, b"%020d\n" % end, 0)

    def safe_end(self) -> int:
        text = os.pread(self.descriptor, 21, 0)
        return int(text) if len(text) == 21 and text[:20].isdigit() else 0

    def remove(self) -> None:
        with suppress(OSError):
            self.path.unlink()
        self.release()

    def release(self) -> None:
        os.close(self.descriptor)


def is_locked_in_place(descriptor: int, path: Path) -> bool:
    """Locks it; False when somebody else holds it, or has removed it in the meantime."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False
