"""The identity of a URL: normalisation and its hash.

The WHATWG standard parses; then these rules apply, and a URL that differs only in what they remove is the same URL:

1. scheme and host are lower case (the parser's doing, as are IDNA, IPv4 and IPv6 forms, dot segments, backslashes,
   tabs and newlines); the root dot of a host (``example.com.``) is dropped as it is for domains;
2. the scheme's default port is dropped;
3. trailing slashes of the path are dropped, except the root's; inner empty segments (``//``) stay;
4. query parameters are sorted by decoded name; equal names keep their order, as servers read meaning from it;
5. the fragment is dropped;
6. tracking parameters are dropped: those whose decoded name, ignoring case, is in ``drop_params``;
7. path and query are spelt one way: escapes of unreserved characters are decoded, all others kept in upper-case hex,
   and what RFC 3986 has no place for (``|``, ``[``, a lone ``%``) is escaped. An escaped delimiter never becomes bare,
   and bytes that are not UTF-8 stay escaped.

Empty parameters (``?``, ``&&``) go, but ``b`` and ``b=`` are two spellings that a server can tell apart, like ``+`` and
``%20``, and stay. Semicolons separate nothing. User information stays: it can change what is answered.
"""

import hashlib
import re
from collections.abc import Collection
from functools import lru_cache
from operator import itemgetter
from string import ascii_letters, digits, hexdigits
from typing import Final
from urllib.parse import unquote_plus

from crawler.web.urls.parsing import PLAIN_LENGTH, PLAIN_ORIGIN, crawlable, within_limits
from crawler.web.urls.resolving import resolve

DEFAULT_TRACKING: Final = frozenset(
    {
        "utm_source",
        "utm_medium",
        "utm_campaign",
        "utm_term",
        "utm_content",
        "fbclid",
        "gclid",
        "ref",
        "source",
    }
)

_PATH_SAFE: Final = r"A-Za-z0-9\-._~!$&'()*+,;=:@/"
# The standard's parser escapes an apostrophe in a query, so it is unsafe there.
_QUERY_SAFE: Final = r"A-Za-z0-9\-._~!$&()*+,;=:@/?"
_NOT_ASCII: Final = r"\x80-\ud7ff\ue000-\U0010ffff"
_CANONICAL_HEX: Final = "(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])"
# Follows one unsafe character, and matches unless that is the percent sign of an escape spelt as it should be.
_ODD: Final = rf"(?:(?<!%)|(?!{_CANONICAL_HEX})(?:[0-9A-Fa-f]{{2}})?)"
_SITES_REMEMBERED: Final = 4096
_PARAMETER_LISTS_REMEMBERED: Final = 64

# A URL that needs no parser but for its authority, if its path has no dot segments either.
_plain_url: Final = re.compile(
    rf"({PLAIN_ORIGIN})(/[{_PATH_SAFE}%{_NOT_ASCII}]{{0,{PLAIN_LENGTH}}}+)?"
    rf"(?:\?([{_QUERY_SAFE}%{_NOT_ASCII}]{{0,{PLAIN_LENGTH}}}+))?(?:\#.*)?",
    re.DOTALL,
).fullmatch
_odd_in_path: Final = re.compile(rf"[^{_PATH_SAFE}]{_ODD}").sub
_odd_in_query: Final = re.compile(rf"[^{_QUERY_SAFE}]{_ODD}").sub
_root_dot: Final = re.compile(r"(?<![./@])\.(?=(?::[0-9]+)?\Z)").sub
_name: Final = itemgetter(0)


def normalize(url: str, base: str | None = None, *, drop_params: Collection[str] = DEFAULT_TRACKING) -> str:
    """The one spelling of an http(s) URL, resolved against ``base`` if given. Raises InvalidURL."""
    if base is not None:
        url = resolve(url, base)
    match = _plain_url(url)
    if match is None:
        site, path, query = _parsed_parts(url)
    else:
        site, path, query = match.groups("")
        if "%" in path or not path.isascii():
            path = _odd_in_path(_spelling, path)
        if "%" in query or not query.isascii():
            query = _odd_in_query(_spelling, query)
        if "/." in path:  # perhaps a dot segment, bare or escaped
            site, path, query = _parsed_parts(url)
        else:
            site = _identity_of_site(site)
    if query:
        query = _kept_and_sorted(query, drop_params)
    path = path.rstrip("/") or "/"
    return f"{site}{path}?{query}" if query else site + path


def url_hash(url: str, *, drop_params: Collection[str] = DEFAULT_TRACKING) -> str:
    """SHA-256 of the normalised URL in hex: the URL's identity everywhere. Raises InvalidURL."""
    return hashlib.sha256(normalize(url, drop_params=drop_params).encode("ascii")).hexdigest()


def _parsed_parts(url: str) -> tuple[str, str, str]:
    """Site, path and query of any URL, by the parser, with escapes spelt one way. Raises InvalidURL."""
    before_query, _, query = crawlable(url).partition("?")
    path_start = before_query.index("/", len("https://"))
    site = _root_dot("", before_query[:path_start])
    path = _odd_in_path(_spelling, before_query[path_start:])
    query = _odd_in_query(_spelling, query)
    within_limits(f"{site}{path}?{query}" if query else site + path)  # escapes make it longer
    return site, path, query


@lru_cache(_SITES_REMEMBERED)
def _identity_of_site(origin: str) -> str:
    return _root_dot("", crawlable(f"{origin}/")[:-1])


def _kept_and_sorted(query: str, drop_params: Collection[str]) -> str:
    dropped = drop_params if drop_params is DEFAULT_TRACKING else _lower_case(frozenset(drop_params))
    kept = []
    for parameter in query.split("&"):
        name = parameter.partition("=")[0]
        if "%" in name or "+" in name:
            name = unquote_plus(name)
        if parameter and name.lower() not in dropped:
            kept.append((name, parameter))
    if len(kept) == 1:
        return kept[0][1]
    kept.sort(key=_name)
    return "&".join([parameter for _, parameter in kept])


@lru_cache(_PARAMETER_LISTS_REMEMBERED)
def _lower_case(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _spelling(odd: re.Match[str]) -> str:
    text = odd[0]
    return _ESCAPES.get(text) or "%" + text.encode().hex("%").upper()


def _escapes() -> dict[str, str]:
    """What every escape becomes: its character if that is unreserved, else the escape in upper case."""
    unreserved = f"{ascii_letters}{digits}-._~"
    spelt = {f"%{high}{low}": chr(int(high + low, 16)) for high in hexdigits for low in hexdigits}
    return {escape: character if character in unreserved else escape.upper() for escape, character in spelt.items()}


_ESCAPES: Final = _escapes()
