"""The ``srcset`` attribute, parsed as the HTML standard says.

``parse`` never fails: a candidate with a descriptor that the standard does not know, or with two that contradict each
other, is left out and the rest is returned in the order written. At most MAX_CANDIDATES are read. Time grows with the
length of the value only.
"""

import re
from itertools import islice
from typing import Final, NamedTuple

MAX_CANDIDATES: Final = 10_000
_MOST_DESCRIPTORS: Final = 2  # that agree with each other: a width and a height
_BLANKS: Final = " \t\n\f\r"

_url = re.compile(rf"[{_BLANKS},]*+([^{_BLANKS}]++)").match
_comma_or_parenthesis = re.compile(r"[,(]").search
_descriptors = re.compile(rf"[^{_BLANKS}]++").finditer

_size = re.compile(r"([0-9]++)([wh])").fullmatch
_density = re.compile(r"(-?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)x").fullmatch


class Candidate(NamedTuple):
    """One image of the set. ``descriptor`` is its text ("2x", "640w", empty); the numbers are what that text says."""

    url: str
    descriptor: str = ""
    width: int | None = None
    height: int | None = None
    density: float | None = None


def parse(value: str) -> list[Candidate]:
    """The image candidates of a ``srcset`` value; URLs as written, unresolved."""
    candidates: list[Candidate] = []
    position = 0
    for _ in range(MAX_CANDIDATES):
        found = _url(value, position)
        if found is None:
            break
        url, position = found[1], found.end()
        written = ""
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            end = _end_of_candidate(value, position)
            written, position = value[position:end], end + 1
        candidate = _described(url, written)
        if candidate is not None:
            candidates.append(candidate)
    return candidates


def _end_of_candidate(value: str, position: int) -> int:
    """A comma ends it unless it stands in parentheses; an open parenthesis swallows the rest of the value."""
    while mark := _comma_or_parenthesis(value, position):
        if mark[0] == ",":
            return mark.start()
        position = value.find(")", mark.end()) + 1
        if not position:
            break
    return len(value)


def _described(url: str, written: str) -> Candidate | None:
    """The candidate with its numbers, or None where the standard drops it: no descriptor has parentheses yet."""
    if "(" in written:
        return None
    descriptors = [found[0] for found in islice(_descriptors(written), _MOST_DESCRIPTORS + 1)]
    sizes: dict[str, int] = {}
    density: float | None = None
    for descriptor in descriptors:
        if size := _size(descriptor):
            pixels = _bounded_integer(size[1])
            if size[2] in sizes or density is not None or not pixels:
                return None
            sizes[size[2]] = pixels
        elif ratio := _density(descriptor):
            density = float(ratio[1]) if density is None and not sizes else -1.0
            if not 0 <= density < float("inf"):
                return None
        else:
            return None
    if "h" in sizes and "w" not in sizes:
        return None
    return Candidate(url, " ".join(descriptors), sizes.get("w"), sizes.get("h"), density)


def _bounded_integer(digits: str) -> int:
    """No screen has more pixels than nine digits tell, and Python refuses to convert very long ones."""
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= 9 else 999_999_999
