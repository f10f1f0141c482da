"""The archive that writes WARC files, whatever they are kept on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from crawler.archive.contract import Capture, Location, Original
from crawler.archive.volume import Volume, new_volume

ROTATE_BYTES = 1024**3


class Shelf(Protocol):
    """What volumes are kept on."""

    @property
    def url(self) -> str: ...

    @property
    def takes_more(self) -> bool:
        """Whether a volume that is kept may still grow."""

    def keep(self, volume: Volume) -> None:
        """Makes the unsecured parts safe at their offsets, or raises ArchiveUnavailable and leaves only what was."""

    def finish(self, volume: Volume) -> None:
        """Nothing more will come for this volume. May be said twice."""

    def close(self) -> None: ...


class WarcArchive:
    """Captures in, volumes out. Volumes are in the order of their beginning; only the last one takes more."""

    def __init__(self, shelf: Shelf, *, prefix: str, rotate_bytes: int, about: Mapping[str, object]) -> None:
        self.shelf = shelf
        self.prefix = prefix
        self.rotate_bytes = rotate_bytes
        self.about = about
        self.volumes: list[Volume] = []
        self.volume_count = 0

    @property
    def url(self) -> str:
        return self.shelf.url

    @property
    def pending_bytes(self) -> int:
        return sum(volume.end - volume.secured_end for volume in self.volumes)

    def add(self, capture: Capture) -> Location:
        return self._open_volume().add(capture)

    def add_revisit(self, capture: Capture, of: Original) -> Location:
        return self._open_volume().add_revisit(capture, of)

    def _open_volume(self) -> Volume:
        volumes = self.volumes
        if not volumes or volumes[-1].end >= self.rotate_bytes:
            self.volume_count += 1
            volumes.append(new_volume(self.prefix, self.volume_count, self.about))
        return volumes[-1]

    def secure(self) -> None:
        while self.volumes:
            volume = self.volumes[0]
            if volume.parts:
                self.shelf.keep(volume)
                volume.mark_secured()
            if self.shelf.takes_more and len(self.volumes) == 1 and volume.end < self.rotate_bytes:
                break
            self.shelf.finish(volume)
            del self.volumes[0]

    def close(self) -> None:
        try:
            self.secure()
        finally:
            self.shelf.close()
