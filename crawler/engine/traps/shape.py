"""What one URL shows by itself: its length, its path's depth and repetitions, its date."""

from __future__ import annotations

from collections import Counter
from typing import Final

from crawler.engine.refusals import Reason, Refusal
from crawler.engine.traps.calendars import date_refusal
from crawler.engine.traps.limits import DEFAULT_LIMITS, TrapLimits

_TIMES_ALONE: Final = 4  # /x/x/x/x
_TIMES_IN_A_ROW: Final = 3  # /a/b/a/b/a/b
_TIMES_ANYWHERE: Final = 6  # /a/x/a/y/a/z/a/…
_FEWEST_DOUBLES: Final = 3  # what all of them have at least


def shape_refusal(url: str, now: float, limits: TrapLimits = DEFAULT_LIMITS) -> Refusal | None:
    """``url`` is absolute and has no fragment; ``now`` is in seconds since 1970."""
    if len(url) > limits.url_characters:
        return Refusal(Reason.URL_TOO_LONG, f"{len(url)} characters, at most {limits.url_characters}")
    path, query = split(url)
    return _path_refusal(path, limits) or date_refusal(path, query, now, limits)


def split(url: str) -> tuple[str, str]:
    """Path and query of an absolute URL without a fragment."""
    before_query, _, query = url.partition("?")
    start = before_query.find("/", before_query.find("://") + 3)
    return (before_query[start:] if start >= 0 else "/"), query


def _path_refusal(path: str, limits: TrapLimits) -> Refusal | None:
    segments = path.split("/")[1:]
    if len(segments) > limits.path_segments:
        return Refusal(Reason.PATH_DEPTH, f"{len(segments)} segments, at most {limits.path_segments}")
    if len(segments) - len(set(segments)) < _FEWEST_DOUBLES:  # nearly all URLs
        return None
    repeated = _repeated(segments)
    return Refusal(Reason.REPEATING_PATH, f"repeats /{repeated}") if repeated is not None else None


def _repeated(segments: list[str]) -> str | None:
    """What a path says again and again; None when it does not."""
    for period in range(1, len(segments) // _TIMES_IN_A_ROW + 1):
        needed = period * (_TIMES_ALONE if period == 1 else _TIMES_IN_A_ROW)
        start = _periodic_run(segments, period, needed)
        if start is not None and not all(map(_is_number, segments[start : start + period])):
            return "/".join(segments[start : start + period])
    segment, times = Counter(segments).most_common(1)[0]
    return segment if times >= _TIMES_ANYWHERE and not _is_number(segment) else None


def _periodic_run(segments: list[str], period: int, needed: int) -> int | None:
    """Where ``needed`` segments begin, each of which is the same as the one ``period`` before it."""
    length = period
    for index in range(period, len(segments)):
        length = length + 1 if segments[index] == segments[index - period] else period
        if length >= needed:
            return index - needed + 1
    return None


def _is_number(segment: str) -> bool:
    return segment.isdigit()  # map tiles and coordinates: /0/0/0/0
