"""Files whose writer was killed end at their last complete record again. Files of living writers are not touched."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from crawler.archive.marker import MARKER_SUFFIX, Marker
from crawler.archive.members import whole_end
from crawler.archive.volume import SUFFIX


class Repair(NamedTuple):
    name: str
    size: int  # in bytes, afterwards; 0 when nothing was whole and the file is gone
    cut_bytes: int


def repair_folder(folder: Path) -> list[Repair]:
    """What was done. A file that cannot be repaired now (rights, I/O) stays marked for the next time."""
    repairs = []
    for path in sorted(folder.glob(f"*{SUFFIX}{MARKER_SUFFIX}")):
        with suppress(OSError):
            marker = Marker.take_over(path)
            if marker:
                repairs += repair_marked(marker)
    return repairs


def repair_marked(marker: Marker) -> list[Repair]:
    path = marker.path.with_name(marker.path.name.removesuffix(MARKER_SUFFIX))
    try:
        done = [repair_file(path, marker.safe_end())] if path.exists() else []
    except OSError:
        marker.release()
        raise
    marker.remove()
    return done


def repair_file(path: Path, safe_end: int) -> Repair:
    with path.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        end = whole_end(file, safe_end if safe_end <= size else 0)
        if end < size:
            file.truncate(end)
            os.fsync(file.fileno())
    if not end:
        path.unlink()
    return Repair(path.name, end, size - end)
