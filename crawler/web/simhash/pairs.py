"""Finds the fingerprints of a set that are close to each other without comparing all with all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise

_BITS = 64


def find_all(fingerprints: Iterable[int], max_distance: int = 3) -> list[tuple[int, int]]:
    """Every pair (smaller, larger) of different fingerprints at most ``max_distance`` bits apart, in order.

    Cut into ``max_distance`` + 2 blocks, two such fingerprints agree in at least two blocks. So only those that share
    two blocks are compared: close to linear for fingerprints of different texts.
    """
    distinct = sorted(set(fingerprints))
    found: set[tuple[int, int]] = set()
    for mask in _block_pairs(max_distance):
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for value in distinct:
            groups[value & mask].append(value)
        for group in groups.values():
            found.update(pair for pair in combinations(group, 2) if (pair[0] ^ pair[1]).bit_count() <= max_distance)
    return sorted(found)


def _block_pairs(max_distance: int) -> Iterator[int]:
    """Masks of two blocks each. When blocks would be too small to tell anything, one empty mask compares all."""
    blocks = max_distance + 2
    if blocks > _BITS // 4:
        yield 0
        return
    edges = [_BITS * index // blocks for index in range(blocks + 1)]
    masks = [(1 << end) - (1 << start) for start, end in pairwise(edges)]
    yield from (one | other for one, other in combinations(masks, 2))
