"""Dates as the web writes them. Results are always aware datetimes in UTC; what is no date is None, never an exception.

``http_date`` accepts exactly the three forms of RFC 9110 §5.6.7. ``loose_date`` also takes what servers and pages write
instead: ISO 8601 and its W3C subset, RFC 822 with any zone, missing seconds or weekday, ``June 3, 2019``, Unix seconds.
A time without a zone counts as UTC. Orders that cannot be told apart (``03/06/2019``) are refused rather than guessed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

LONGEST_DATE = 64  # characters; the longest sensible form has about 40

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
# The zones RFC 822 names, and those that turn up beside them, as hours from UTC.
_ZONE_HOURS = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "bst": 1, "cet": 1, "west": 1, "cest": 2, "eet": 2, "eest": 3,
    "msk": 3, "edt": -4, "est": -5, "cdt": -5, "cst": -6, "mdt": -6, "mst": -7, "pdt": -7, "pst": -8, "jst": 9,
    "kst": 9,
}  # fmt: skip

_MONTH = "(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = "(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_HTTP_FORMS = (
    re.compile(rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_CLOCK} GMT"),
    re.compile(
        r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, "
        rf"(?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_CLOCK} GMT"
    ),
    re.compile(rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_MONTH} (?P<day>[0-9]{{2}}| [0-9]) {_CLOCK} (?P<year>[0-9]{{4}})"),
)

_LOOSE_CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r"\s*(?P<half>[ap]m\b)?"
)
_LOOSE_ZONE = r"(?P<zone>[a-z]{1,4}|(?:gmt|utc)?\s*[+-][0-9]{2}:?(?:[0-9]{2})?)"
_LOOSE_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,?\s*)?"
_LOOSE_FORMS = (
    re.compile(  # ISO 8601, extended
        rf"(?P<year>[0-9]{{4}})[-/.](?P<month_number>[0-9]{{1,2}})(?:[-/.](?P<day>[0-9]{{1,2}})"
        rf"(?:(?:\s*t\s*|\s+){_LOOSE_CLOCK}\s*{_LOOSE_ZONE}?)?)?"
    ),
    re.compile(  # ISO 8601, basic
        r"(?P<year>[0-9]{4})(?P<month_number>[0-9]{2})(?P<day>[0-9]{2})"
        r"(?:t?(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?P<second>[0-9]{2})?"
        rf"\s*{_LOOSE_ZONE}?)?"
    ),
    re.compile(  # RFC 822, RFC 850 and their relatives: day first
        rf"{_WEEKDAY}(?P<day>[0-9]{{1,2}})[\s-]*{_LOOSE_MONTH}[\s,-]*(?P<year>[0-9]{{4}}|[0-9]{{2}})"
        rf"(?:[\s,]+(?:at\s+)?{_LOOSE_CLOCK}\s*{_LOOSE_ZONE}?)?"
    ),
    re.compile(  # asctime: month first, year last
        rf"{_WEEKDAY}{_LOOSE_MONTH}\s+(?P<day>[0-9]{{1,2}}),?\s+{_LOOSE_CLOCK}\s*{_LOOSE_ZONE}?\s*(?P<year>[0-9]{{4}})"
    ),
    re.compile(  # June 3, 2019
        rf"{_WEEKDAY}{_LOOSE_MONTH}\s+(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>[0-9]{{4}})"
        rf"(?:[\s,]+(?:at\s+)?{_LOOSE_CLOCK}\s*{_LOOSE_ZONE}?)?"
    ),
    re.compile(r"(?P<year>[0-9]{4})"),
)
_UNIX_TIME = re.compile(r"[0-9]{10}(?:[0-9]{3})?")


def http_date(value: str, now: datetime | None = None) -> datetime | None:
    """The moment an HTTP-date names. A weekday must be a weekday but need not be the right one.

    ``now`` settles two-digit years as RFC 9110 says (at most 50 years ahead); without it they mean 1970 to 2069.
    """
    for form in _HTTP_FORMS:
        if match := form.fullmatch(value):
            return _moment(match.groupdict(), now)
    return None


def loose_date(value: str, now: datetime | None = None) -> datetime | None:
    """The moment a date in any of the accepted forms names; see the module's text."""
    text = value.strip()[: LONGEST_DATE + 1].lower()
    if len(text) > LONGEST_DATE:
        return None
    if _UNIX_TIME.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    for form in _LOOSE_FORMS:
        if match := form.fullmatch(text):
            return _moment(match.groupdict(), now)
    return None


def _moment(parts: dict[str, str | None], now: datetime | None) -> datetime | None:
    try:
        return _as_written(parts, now).astimezone(UTC)
    except (ValueError, OverflowError):  # 30 February, hour 25, an unknown zone, a year before 1 once in UTC
        return None


def _as_written(parts: dict[str, str | None], now: datetime | None) -> datetime:
    month_name = parts.get("month")
    return datetime(
        year=_year(parts["year"] or "", now),
        month=_MONTHS[month_name.lower()] if month_name else int(parts.get("month_number") or 1),
        day=int(parts.get("day") or 1),
        hour=_hour(int(parts.get("hour") or 0), parts.get("half")),
        minute=int(parts.get("minute") or 0),
        second=int(parts.get("second") or 0),
        microsecond=int((parts.get("fraction") or "0").ljust(6, "0")[:6]),
        tzinfo=_zone(parts.get("zone")),
    )


def _year(digits: str, now: datetime | None) -> int:
    if len(digits) == 4:
        return int(digits)
    if now is None:
        return int(digits) + (1900 if int(digits) >= 70 else 2000)
    year = now.year - now.year % 100 + int(digits)
    return year - 100 if year > now.year + 50 else year


def _hour(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError("no such hour on a twelve-hour clock")
    return hour % 12 + (12 if half == "pm" else 0)


def _zone(text: str | None) -> timezone:
    if not text:
        return UTC
    if text.isalpha():
        return timezone(timedelta(hours=_ZONE_HOURS[text])) if text in _ZONE_HOURS else _unknown_zone(text)
    digits = re.sub("[^0-9]", "", text)
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return timezone(-offset if "-" in text else offset)


def _unknown_zone(text: str) -> timezone:
    raise ValueError(f"unknown zone {text}")
