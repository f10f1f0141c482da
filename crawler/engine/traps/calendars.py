"""Calendars that go on for ever: dates too far from now, and pages that are addressed by nothing but a date.

A year alone is no date (it may be an identifier), a year with a month is one where the URL speaks of dates: in a
parameter with such a name, or in a path below a word such as ``calendar``.
"""

from __future__ import annotations

import re
import time
from typing import Final

from crawler.engine.refusals import Reason, Refusal
from crawler.engine.traps.limits import TrapLimits

_MOST_MONTHS: Final = 1_200  # A month is a number up to 12, or an offset from now: up to a century of them.
_DATE_NAMES: Final = frozenset(
    ("datum", "day", "dia", "fecha", "jour", "mes", "mois", "monat", "week", "woche", "year")
)
_COMPACT_NAMES: Final = frozenset(("m", "ym"))  # of 202605
_NAMES_OF_MANY_THINGS: Final = frozenset(("cal", "d", "end", "from", "start", "to", "until", "when")) | _COMPACT_NAMES

_calendar_word: Final = re.compile(
    r"[/_.-](?:cal|calend[ae]r(?:s|io)?|kalender|calendrier|agenda|events?|eventos|eventi|evenements|schedules?|termine"
    r"|veranstaltungen|whats-?on)(?=[/_.-]|\Z)",
    re.IGNORECASE,
).search
_year_and_month_in_path: Final = re.compile(r"/([0-9]{4})[/-](?:0[1-9]|1[0-2])(?![0-9])").search
_ends_with_date: Final = re.compile(
    r"/(?:[0-9]{4}(?:[/-][0-9]{1,2}){0,2}|[0-9]{4}-?w[0-9]{1,2}|[0-9]{6}|[0-9]{8})/?\Z", re.IGNORECASE
).search
_dashed_date: Final = re.compile(r"([0-9]{4})[-/.](?:0?[1-9]|1[0-2])(?![0-9])").match
_compact_date: Final = re.compile(r"([0-9]{4})(?:0[1-9]|1[0-2])(?:[0-3][0-9])?").fullmatch
_number: Final = re.compile(r"-?[0-9]{1,9}").fullmatch
_digit: Final = re.compile(r"[0-9]").search


def date_refusal(path: str, query: str, now: float, limits: TrapLimits) -> Refusal | None:
    """Refuses dates that no real calendar reaches."""
    year = _year_in_path(path)
    if year is None and query and _digit(query):
        dates = date_parameters(query)
        year = _year_in_query(dates, path) if dates else None
        if year is None and _is_distant_offset(dates.get("month", "")):
            return Refusal(Reason.CALENDAR, f"month={dates['month']}")
    if year is None:
        return None
    this_year = time.gmtime(now).tm_year
    if this_year - limits.calendar_years_back <= year <= this_year + limits.calendar_years_ahead:
        return None
    return Refusal(Reason.CALENDAR, f"the year {year:04}")


def is_calendar_page(path: str, query: str) -> bool:
    """True for a view of a calendar: below a calendar's word, and addressed by a date and nothing else."""
    if not query and not path.rstrip("/")[-1:].isdigit():  # most URLs
        return False
    word = _calendar_word(path)
    if word is None:
        return False
    return bool(_ends_with_date(path, word.end()) or (query and date_parameters(query)))


def date_parameters(query: str) -> dict[str, str]:
    """Values of the parameters that speak of dates, by name in lower case."""
    found = {}
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        name = name.lower()
        if value and (_means_date(name) or (name in _NAMES_OF_MANY_THINGS and _date(name, value))):
            found[name] = value
    return found


def _means_date(name: str) -> bool:
    return name in _DATE_NAMES or "date" in name or "month" in name


def _date(name: str, value: str) -> re.Match[str] | None:
    dashed = _dashed_date(value.replace("%2F", "/").replace("%2f", "/"))
    may_be_compact = name in _COMPACT_NAMES or _means_date(name)  # start=203012 is a position in a list
    return dashed or (_compact_date(value) if may_be_compact else None)


def _year_in_path(path: str) -> int | None:
    date = _year_and_month_in_path(path)
    if date is None:
        return None
    word = _calendar_word(path)
    date = _year_and_month_in_path(path, word.end()) if word else None
    return int(date[1]) if date else None


def _year_in_query(dates: dict[str, str], path: str) -> int | None:
    for name, value in dates.items():
        if date := _date(name, value):
            return int(date[1])
    year = dates.get("year", "")
    is_dated = len(dates) > 1 or _calendar_word(path)
    return int(year) if is_dated and len(year) == 4 and _number(year) else None


def _is_distant_offset(value: str) -> bool:
    return bool(_number(value)) and abs(int(value)) > _MOST_MONTHS and not (len(value) == 4 or _compact_date(value))
