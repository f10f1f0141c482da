"""``Cache-Control`` and ``Retry-After``.

Cache-Control is read on the safe side. What forbids keeping a copy (``no-store``, ``no-cache``, ``private``) counts
even when it is mangled; what allows it counts only when well formed. Of a lifetime given twice the stricter one holds,
and a malformed one makes it void.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from crawler.web.dates import http_date, loose_date

LONGEST_VALUE = 16 * 1024  # characters of a header read
LONGEST_SECONDS = 2**31 - 1  # RFC 9111 §1.2.2: what is larger means this
LONGEST_RETRY_SECONDS = 30 * 24 * 3600.0

_SECONDS = frozenset(("max-age", "s-maxage", "max-stale", "min-fresh", "stale-while-revalidate", "stale-if-error"))
_LARGER_IS_STRICTER = "min-fresh"
_FLAGS = frozenset(
    "public must-revalidate proxy-revalidate immutable no-transform must-understand only-if-cached".split()
)
_RESTRICTIONS = frozenset(("no-store", "no-cache", "private"))
_QUALIFIABLE = frozenset(("no-cache", "private"))  # may name the header fields they are about

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_TOKEN = re.compile(r"[^!#$%&'*+.^_`|~0-9A-Za-z-]+")
_DIGITS = re.compile(r"[0-9]+")
# One member of the list: its name, then "=" and a quoted string, an unfinished quoted string or plain text.
_MEMBER = re.compile(
    r'(?P<name>[^=,"]*+)'
    r'(?P<equals>=[ \t]*+(?:"(?P<quoted>(?:[^"\\]++|\\.)*)(?P<closed>")?(?P<after>[^,]*+)|(?P<plain>[^,]*+)))?'
    r"(?P<junk>[^,]*+)(?:,|\Z)",
    re.DOTALL,
)

Directive = int | bool | list[str]


@dataclass(frozen=True, slots=True)
class CacheControl:
    """The directives that count, by name: seconds, True, or the header fields a restriction is limited to."""

    directives: Mapping[str, Directive] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def max_age_seconds(self) -> int | None:
        value = self.directives.get("max-age")
        return value if type(value) is int else None

    @property
    def may_be_stored(self) -> bool:
        return "no-store" not in self.directives

    @property
    def needs_revalidation(self) -> bool:
        """True when no copy may be used without asking the server; a mere list of header fields does not say that."""
        return self.directives.get("no-cache") is True


def cache_control(value: str | Iterable[str]) -> CacheControl:
    """The directives of a Cache-Control header, given as one value or as the list of its lines."""
    text = value if isinstance(value, str) else ", ".join(value)
    found: dict[str, Directive] = {}
    void: set[str] = set()
    position, text = 0, text[:LONGEST_VALUE]
    while position < len(text):
        member = _MEMBER.match(text, position)
        if member is None:  # every text matches; this states it
            break
        position = member.end()
        _add(member, found, void)
    return CacheControl(MappingProxyType({name: value for name, value in found.items() if name not in void}))


def _add(member: re.Match[str], found: dict[str, Directive], void: set[str]) -> None:
    written = member["name"].lower()
    name = written.strip(" \t")
    restriction = _NOT_TOKEN.sub("", name)
    if restriction in _RESTRICTIONS:
        _add_restriction(restriction, member, found)
    elif name in _FLAGS and member["equals"] is None and not member["junk"]:
        found[name] = True
    elif name in _SECONDS:
        seconds = None if written.endswith((" ", "\t")) else _seconds(member)
        void.update(() if seconds is not None else (name,))
        found[name] = _stricter(name, seconds or 0, found.get(name))
    if member["quoted"] is not None and member["closed"] is None:
        _add_swallowed_restrictions(member["quoted"], found)


def _add_restriction(name: str, member: re.Match[str], found: dict[str, Directive]) -> None:
    fields = _field_names(member) if name in _QUALIFIABLE else []
    before = found.get(name, [])
    found[name] = [*before, *fields] if fields and isinstance(before, list) else True


def _field_names(member: re.Match[str]) -> list[str]:
    """The header fields a restriction is limited to; none when they are not properly listed, so that it covers all."""
    if member["quoted"] is not None:
        listed = member["quoted"] if member["closed"] else ""
    else:
        listed = member["plain"] or ""
    names = [name.strip(" \t").lower() for name in listed.split(",")]
    names = [name for name in names if name]
    return names if all(map(_TOKEN.fullmatch, names)) else []


def _seconds(member: re.Match[str]) -> int | None:
    """A number written as ``max-age=60`` or ``max-age="60"``, without blanks around the sign or anything behind."""
    if member["quoted"] is not None:
        digits = member["quoted"] if member["closed"] and not (member["after"] or "").strip(" \t") else ""
    else:
        digits = (member["plain"] or "").rstrip(" \t")
    if (member["equals"] or "")[1:2] in (" ", "\t") or not _DIGITS.fullmatch(digits):
        return None
    significant = digits.lstrip("0") or "0"
    return min(int(significant), LONGEST_SECONDS) if len(significant) <= 10 else LONGEST_SECONDS


def _stricter(name: str, seconds: int, before: Directive | None) -> int:
    if type(before) is not int:
        return seconds
    return max(seconds, before) if name == _LARGER_IS_STRICTER else min(seconds, before)


def _add_swallowed_restrictions(swallowed: str, found: dict[str, Directive]) -> None:
    """A quote that is never closed must not hide a ``no-store`` behind it."""
    for part in swallowed.lower().split(","):
        if (name := _NOT_TOKEN.sub("", part)) in _RESTRICTIONS:
            found[name] = True


def retry_after(value: str, now: datetime, *, longest_seconds: float = LONGEST_RETRY_SECONDS) -> float | None:
    """How many seconds from ``now`` a server asks us to wait; None when the value is neither a number nor a date.

    Never negative (a date gone by means 0) and never more than ``longest_seconds``: 30 days, unless said otherwise.
    Dates need not be in perfect HTTP form: ``3 Jun 2019 12:00:00 UTC`` is understood.
    """
    text = value.strip(" \t")
    if _DIGITS.fullmatch(text):
        return min(float(text[:400]), longest_seconds)
    moment = http_date(text, now) or (loose_date(text, now) if re.search("[A-Za-z]", text[:64]) else None)
    return None if moment is None else min(max((moment - now).total_seconds(), 0.0), longest_seconds)
