"""Near duplicates within a domain: pages whose fingerprints differ in at most three of 64 bits.

Fingerprints that near agree in at least one of four bands of 16 bits, so candidates are found by band. The newest
documents of a domain are loaded when work on it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from crawler.web.simhash import NEAR_DISTANCE, distance, fingerprint

COMPARED_DOCUMENTS: Final = 50_000
LOOKED_AT_CHARACTERS: Final = 32_768  # of the page's markup
SAMPLE_CHARACTERS: Final = 800
LONGEST_SAMPLE: Final = 4_000  # where a few blocks are the whole page
FEW_BLOCKS: Final = 12
SHORTEST_TEXT: Final = 40
CANDIDATES: Final = 64
_BANDS: Final = (0, 16, 32, 48)
_SIGN: Final = 1 << 63

# Running text, as opposed to menus and markup. What stands in scripts is taken for text: telling them apart would cost
# more than all the rest, and a page's own scripts are part of what it is.
_blocks = re.compile(r">([^<]{30,})").findall


def page_fingerprint(html: str) -> int | None:
    """Of the page's running text; None when it has too little to compare.

    Long pages are sampled by block, and which blocks are taken depends on the blocks alone: a change in one place
    leaves the sample of all others as it was.
    """
    blocks = _blocks(html, 0, LOOKED_AT_CHARACTERS)
    size = sum(map(len, blocks))
    if size < SHORTEST_TEXT:
        return None
    if len(blocks) <= FEW_BLOCKS:
        return fingerprint(" ".join(blocks)[:LONGEST_SAMPLE]) or None
    if size > 2 * SAMPLE_CHARACTERS:
        # By their lengths: as good as chance, and the same on every page that has them.
        keep_one_in = 1 << (size // SAMPLE_CHARACTERS).bit_length() - 1
        blocks = [block for block in blocks if not len(block) % keep_one_in] or blocks
    return fingerprint(" ".join(blocks)[: 3 * SAMPLE_CHARACTERS]) or None


def signed(value: int) -> int:
    """As a database keeps 64 bits."""
    return value - (_SIGN << 1) if value >= _SIGN else value


class NearPages:
    """The fingerprints of one domain's documents."""

    __slots__ = ("_by_band", "_count")

    def __init__(self, known: Iterable[tuple[int, str]] = ()) -> None:
        self._by_band: dict[int, list[tuple[int, str]]] = {}
        self._count = 0
        for value, url_hash in known:
            self.add(value & (2**64 - 1), url_hash)

    def find(self, value: int, url_hash: str) -> str | None:
        for band in _BANDS:
            for other, its_hash in self._by_band.get(band << 16 | value >> band & 0xFFFF, ())[-CANDIDATES:]:
                if its_hash != url_hash and distance(value, other) <= NEAR_DISTANCE:
                    return its_hash
        return None

    def add(self, value: int, url_hash: str) -> None:
        if self._count >= COMPARED_DOCUMENTS:
            return
        self._count += 1
        for band in _BANDS:
            self._by_band.setdefault(band << 16 | value >> band & 0xFFFF, []).append((value, url_hash))
