"""The WHATWG URL parser (ada) behind one exception, with limits, and the characters it leaves as they are.

The patterns let callers recognise *plain* URLs, on which the standard's parser would change nothing but the authority.
They exist for speed only: whatever does not match goes to the parser, and tests hold both ways equal.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

import ada_url

# No server takes longer ones, and a page of short hrefs on a long base must not fill the memory.
MAX_URL_LENGTH: Final = 65_536
# A host name has 253 characters at most; to ASCII, a long one takes time that grows with the square of its length.
MAX_AUTHORITY_LENGTH: Final = 1_024
# The fast ways take no longer components than this, so their results stay far below the limit.
PLAIN_LENGTH: Final = 2_048

# Characters of a path and of an http(s) query that the standard neither encodes nor gives a meaning of their own.
PATH_CHARACTERS: Final = r"A-Za-z0-9\-._~!$&'()*+,;=:@%\[\]|/"
QUERY_CHARACTERS: Final = r"A-Za-z0-9\-._~!$&()*+,;=:@%\[\]|/?\\^`{}"
# Ends where the standard ends an authority.
PLAIN_ORIGIN: Final = r"[Hh][Tt][Tt][Pp][Ss]?://[^\x00-\x20/?#\\\x7f]{1,255}+"

_ORIGINS_REMEMBERED: Final = 4096
_QUOTED_LENGTH: Final = 200
_ATTRIBUTES: Final = ("href", "protocol", "username", "password", "hostname", "port", "pathname", "search", "hash")

_long_authority: Final = re.compile(
    rf"[\x00-\x20]*+(?:https?:|[/\\]{{2}})[/\\]*+[^/\\?#]{{{MAX_AUTHORITY_LENGTH + 1}}}", re.IGNORECASE
).match
_IGNORED: Final = str.maketrans("", "", "\t\n\r")


class InvalidURL(ValueError):
    """The text is not a URL by the WHATWG standard, or not one that can be crawled."""


class URLParts(NamedTuple):
    """A parsed URL: ``href`` is the standard's serialisation, the rest its components without their delimiters.

    ``port`` is None for the scheme's default, ``query`` and ``fragment`` are empty when absent, ``host`` is ASCII with
    IPv6 addresses in brackets.
    """

    href: str
    scheme: str
    username: str
    password: str
    host: str
    port: int | None
    path: str
    query: str
    fragment: str


def parse(url: str, base: str | None = None) -> URLParts:
    """Parse a URL of any scheme and length, relative to ``base`` if there is one. Raises InvalidURL."""
    found = ada_url.parse_url(href_of(url, base), _ATTRIBUTES)
    return URLParts(
        href=found["href"],
        scheme=found["protocol"].removesuffix(":"),
        username=found["username"],
        password=found["password"],
        host=found["hostname"],
        port=int(found["port"]) if found["port"] else None,
        path=found["pathname"],
        query=found["search"].removeprefix("?"),
        fragment=found["hash"].removeprefix("#"),
    )


def href_of(url: str, base: str | None = None) -> str:
    """The standard's serialisation of a URL of any scheme. Raises InvalidURL."""
    try:
        return _serialised(url, base)
    except ValueError:
        pass
    try:
        # The parser works on scalar values; a browser hands it lone surrogates as U+FFFD.
        return _serialised(_scalar_values(url), None if base is None else _scalar_values(base))
    except ValueError:
        raise InvalidURL(f"not a URL: {quoted(url)}") from None


def crawlable(url: str, base: str | None = None) -> str:
    """The serialisation of an http(s) URL within the limits, without its fragment. Raises InvalidURL."""
    href = limited_href_of(url, base)
    if not href.startswith(("http://", "https://")):
        raise InvalidURL(f"not an http or https URL: {quoted(url)}")
    return href


def limited_href_of(url: str, base: str | None = None) -> str:
    """The serialisation of a URL of any scheme within the limits, without its fragment. Raises InvalidURL."""
    if len(url) > MAX_AUTHORITY_LENGTH:  # refused before the parser spends time on it
        within_limits(url.partition("#")[0].translate(_IGNORED))
    return within_limits(href_of(url, base).partition("#")[0])


def within_limits(url: str) -> str:
    """The URL itself. Raises InvalidURL when it or its authority is too long."""
    if len(url) > MAX_URL_LENGTH:
        raise InvalidURL(f"longer than {MAX_URL_LENGTH} characters: {quoted(url)}")
    if len(url) > MAX_AUTHORITY_LENGTH and _long_authority(url):
        raise InvalidURL(f"host longer than {MAX_AUTHORITY_LENGTH} characters: {quoted(url)}")
    return url


@lru_cache(_ORIGINS_REMEMBERED)
def origin(text: str) -> str:
    """Scheme and authority (with user information) of text that matches PLAIN_ORIGIN, serialised. Raises InvalidURL."""
    return crawlable(f"{text}/")[:-1]


def quoted(url: str) -> str:
    """A URL for an error message: escaped, and cut when long."""
    return ascii(url if len(url) <= _QUOTED_LENGTH else f"{url[:_QUOTED_LENGTH]}…")


def _serialised(url: str, base: str | None) -> str:
    return ada_url.normalize_url(url) if base is None else ada_url.join_url(base, url)


def _scalar_values(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
