"""One spelling for every path, so that a rule and a URL that mean the same octets compare equal (RFC 9309 §2.2.2).

Percent-encoded unreserved characters are decoded, hexadecimal digits become upper case, and whatever RFC 3986 does not
allow raw (spaces, ``<``, ``|``, non-ASCII as UTF-8, …) is percent-encoded. Reserved characters stay as written: ``/``
and ``%2F`` differ. ``*`` and ``$``, special in a rule, are always encoded in a path. A broken escape stays as it is.
"""

import re
from typing import Final

from ada_url import URL as WhatwgURL

from crawler.web.urls import InvalidURL

ROBOTS_PATH: Final = "/robots.txt"

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_CANONICAL_ESCAPES = {
    f"%{octet:02X}": chr(octet) if chr(octet) in _UNRESERVED else f"%{octet:02X}" for octet in range(256)
}
_SETTLED = r"A-Za-z0-9\-._~/?=&:;,@+!'()\[\]"
_settled_pattern = re.compile(rf"[{_SETTLED}*]*").fullmatch
_settled_path = re.compile(rf"[{_SETTLED}]*").fullmatch
_settled_literal = re.compile(rf"/[{_SETTLED.replace('?', '')}]*+(?<!/index.html)(?<!/index.htm)").fullmatch
_unsettled_part = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^%{_SETTLED}]+")
_START = r"[^/?;#:]*+://|//"
# Said by a lookahead, not by a possessive group: Python before 3.11.5 gets those wrong.
_AUTHORITY = rf"(?:{_START}|(?!{_START}))[^/?;#]*+"
_target = re.compile(rf"{_AUTHORITY}([^#]*)").match
_settled_target = re.compile(rf"{_AUTHORITY}(/[{_SETTLED}]*)(?:#|\Z)").match
_product_token = re.compile(r"[A-Za-z_-]+").fullmatch


def path_of_url(url: str) -> str:
    """What a rule is compared with: path, parameters and query of a URL as written, or of a bare path; no fragment."""
    found = _target(url)
    path = found[1] if found else ""
    return path if path.startswith("/") else "/" + path


def canonical_path_of_url(url: str) -> str:
    """``path_of_url`` in its one spelling."""
    found = _settled_target(url)
    return found[1] if found else canonical_path(path_of_url(url))


def canonical_path(path: str) -> str:
    """The one spelling of a path described at the top of this module."""
    if _settled_path(path):
        return path
    return _unsettled_part.sub(_settle, path)


def is_settled_literal(pattern: str) -> bool:
    """Whether a rule is a plain path in its one spelling, with one meaning: no wildcard, query or index page."""
    return _settled_literal(pattern) is not None


def canonical_pattern(pattern: str) -> str:
    """The one spelling of a rule without its closing ``$``: ``*`` stays, everything else is canonical."""
    if _settled_pattern(pattern):
        return pattern
    return "*".join([canonical_path(literal) for literal in pattern.split("*")])


def _settle(part: re.Match[str]) -> str:
    text = part[0]
    if text[0] == "%":
        return _CANONICAL_ESCAPES[text.upper()]
    return "".join([f"%{octet:02X}" for octet in _octets(text)])


def _octets(text: str) -> bytes:
    try:
        # Octets of the file that are not UTF-8 were kept as lone surrogates.
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def robots_url_for(url: str) -> str:
    """Where the robots.txt that governs this URL lives; raises InvalidURL for what is no http(s) URL."""
    origin = _origin(url)
    if origin is None:
        raise InvalidURL(f"no robots.txt governs {url[:200]!r}")
    return origin + ROBOTS_PATH


def governs(robots_url: str, url: str) -> bool:
    """Whether the file at ``robots_url`` speaks for ``url``: same scheme, host and port (RFC 9309 §2.3)."""
    origin = _origin(robots_url)
    return origin is not None and origin == _origin(url)


def _origin(url: str) -> str | None:
    try:
        parsed = WhatwgURL(url)
    except (ValueError, UnicodeError):
        return None
    return parsed.origin if parsed.protocol in ("http:", "https:") else None


def is_product_token(name: str) -> bool:
    """Whether a crawler may call itself this in robots.txt (RFC 9309 §2.2.1)."""
    return _product_token(name) is not None
