"""What many URLs have in common: their template, and their session id taken out."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

_LONGEST_KEY: Final = 200

# A UUID, mixed letters and digits of some length, or a run of digits.
_varying: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{8,})"
    r"(?![A-Za-z0-9])|[0-9]+"
).sub
_digit: Final = re.compile(r"[0-9]").search

# /(S(lit3py55t21z5v55vlm25s55))/ of ASP.NET, ;jsessionid= of Java and its like
_session_in_path: Final = re.compile(
    r"/\((?:[A-Za-z]\([A-Za-z0-9_-]{8,}\)){1,4}\)(?=/)|/\([a-z0-9]{24}\)(?=/)"
    r"|;(?:jsessionid|phpsessid|sessionid|sid)(?:=|%3D)[^/;?]*",
    re.IGNORECASE,
).sub
# Some names say it all. Others, such as the session_id of a conference, need a value that only a machine could like.
_SURE_NAMES: Final = r"jsessionid|phpsess(?:ion)?id|aspsessionid[a-z]*|asp\.net_sessionid|oscsid|zenid|cfid|cftoken"
_RANDOM: Final = r"(?:[0-9a-f]{32,}|(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{16,})(?![^&])"
_session_in_query: Final = re.compile(
    rf"(?:\A|&)(?:(?:{_SURE_NAMES})=[^&]*|(?:session_?id|sessid|sid)={_RANDOM}|s=[0-9a-f]{{32}}(?![^&]))", re.IGNORECASE
).sub


def template_of(path: str, query: str) -> str | None:
    """The path without what varies and the names of the parameters; None where nothing varies."""
    template = _varying("#", path) if _digit(path) else path
    if query:
        return f"{template}?{_names(query)}"
    return template if template != path else None


def without_session(path: str, query: str) -> tuple[str, str] | None:
    """Path and query without their session ids; None when they have none."""
    clean_path, clean_query = path, query
    if ";" in path or "/(" in path:
        clean_path = _session_in_path("", path)
    if "=" in query:
        clean_query = _session_in_query("", query).removeprefix("&")
    return None if clean_path == path and clean_query == query else (clean_path, clean_query)


def key_of(text: str) -> str:
    """The text, or its digest when it is long: memory is bounded in bytes, too."""
    return text if len(text) <= _LONGEST_KEY else digest(text)


def digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _names(query: str) -> str:
    return "&".join(sorted({parameter.partition("=")[0] for parameter in query.split("&")}))
