"""Meta refresh, by the HTML standard's shared declarative refresh steps: what browsers do."""

import re
from typing import Final, NamedTuple

_BLANKS: Final = r"\t\n\f\r "
_LONGEST_DELAY_SECONDS: Final = 999_999_999
_REMOVED_BY_URL_PARSER: Final = dict.fromkeys(map(ord, "\t\n\r"))

_value = re.compile(
    rf"[{_BLANKS}]*+(?:([0-9]++)|(?=\.))[0-9.]*+"  # seconds; a fraction is read over
    rf"(?:\Z|(?=[;,{_BLANKS}])[{_BLANKS}]*+[;,]?+[{_BLANKS}]*+)"
    rf"(?:[uU][rR][lL][{_BLANKS}]*+=[{_BLANKS}]*+)?(.*+)",
    re.DOTALL,
).fullmatch


class Refresh(NamedTuple):
    """``url`` is as written, without tabs and line breaks; None means the page itself."""

    delay_seconds: int
    url: str | None


def parse(content: str) -> Refresh | None:
    """What ``<meta http-equiv=refresh content=…>`` asks for, or None where the standard sees no refresh in it."""
    found = _value(content)
    if found is None:
        return None
    seconds, target = found.groups()
    if target[:1] in ("'", '"'):
        target = target[1:].partition(target[0])[0]
    url = target.translate(_REMOVED_BY_URL_PARSER).strip(" ")
    return Refresh(_bounded(seconds or "0"), url or None)


def _bounded(digits: str) -> int:
    """Thirty years are enough, and Python refuses to convert very long numbers."""
    return int(digits) if len(digits) <= 9 else _LONGEST_DELAY_SECONDS
