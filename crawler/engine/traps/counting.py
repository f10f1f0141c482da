"""Counting many kinds of things in little memory, never too high.

When there are more kinds than room, the median is taken off every count and what is then at nothing is forgotten
(Misra and Gries). After n things in a table of k kinds a count is at most 2n/k too low, so what is frequent is found
all the same. Counts that have reached the limit stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median_low
from typing import Final
from zlib import crc32

_BITS: Final = 256
# How many bits of 256 are set, on average, after 128 different values.
_BITS_OF_MANY: Final = 100
_MOST_NAMES: Final = 16
_LONGEST_NAME: Final = 40


class BoundedCounts:
    __slots__ = ("capacity", "counts", "limit")

    def __init__(self, limit: int, capacity: int) -> None:
        self.limit = limit
        self.capacity = capacity
        self.counts: dict[str, int] = {}

    def is_full(self, kind: str) -> bool:
        return self.counts.get(kind, 0) >= self.limit

    def add(self, kind: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if len(self.counts) > self.capacity:
            self._make_room()

    def _make_room(self) -> None:
        taken = median_low(self.counts.values())
        lowered = {
            kind: count if count >= self.limit else count - taken
            for kind, count in self.counts.items()
            if count > taken or count >= self.limit
        }
        # Only where most kinds are at their limit does this forget one that is.
        self.counts = dict(list(lowered.items())[-(self.capacity * 3 // 4) :])


class ValueSketch:
    """Whether one of several parameters takes many different values, in 32 bytes for each."""

    __slots__ = ("bits_by_name",)

    def __init__(self, bits_by_name: dict[str, int] | None = None) -> None:
        self.bits_by_name = bits_by_name or {}

    def note(self, parameters: Iterable[tuple[str, str]]) -> None:
        """Takes names and values."""
        bits_by_name = self.bits_by_name
        for long_name, value in parameters:
            name = long_name[:_LONGEST_NAME]
            if name in bits_by_name or len(bits_by_name) < _MOST_NAMES:
                bit = crc32(value.encode(errors="surrogatepass")) % _BITS
                bits_by_name[name] = bits_by_name.get(name, 0) | 1 << bit

    def has_many_values(self) -> bool:
        return any(bits.bit_count() >= _BITS_OF_MANY for bits in self.bits_by_name.values())
