"""Resolving the hrefs of a page: the standard's answer, with a short way for the plain hrefs that pages are full of."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from crawler.web.urls.parsing import (
    PATH_CHARACTERS,
    PLAIN_LENGTH,
    PLAIN_ORIGIN,
    QUERY_CHARACTERS,
    crawlable,
    limited_href_of,
    origin,
)

_PARENTS_KEPT: Final = 16
_BASES_REMEMBERED: Final = 64

_PATH: Final = rf"/[{PATH_CHARACTERS}]{{0,{PLAIN_LENGTH}}}+"
_FIRST_SEGMENT: Final = "[" + PATH_CHARACTERS.replace(":", "").replace("/", "") + f"]{{1,{PLAIN_LENGTH}}}+"

# One of: /path/from/root, https://host/path, or ../../relative/path, which must not start with a dot nor have a colon
# in its first segment, as that would be a scheme. Any of them may be absent before a query or fragment.
_plain_href: Final = re.compile(
    rf"(?:((?!//){_PATH})"
    rf"|({PLAIN_ORIGIN})({_PATH})?"
    rf"|((?:\.\./){{0,{_PARENTS_KEPT}}})((?!\.){_FIRST_SEGMENT}(?:{_PATH})?)?)"
    rf"(\?[{QUERY_CHARACTERS}]{{0,{PLAIN_LENGTH}}}+)?(?:\#.*)?",
    re.DOTALL,
).fullmatch
_escaped_dot: Final = re.compile("%2[eE]").search


def resolve(href: str, base: str | None = None) -> str:
    """The http(s) URL that ``href`` means on a page at ``base``, without its fragment: the URL as it is fetched.

    Raises InvalidURL for what the WHATWG standard cannot parse, for other schemes (mailto:, javascript:, data:, ...)
    and for what is too long.
    """
    if base is None:
        return crawlable(href)
    return _resolver(base)(href) if len(base) <= PLAIN_LENGTH else Resolver(base)(href)


class Resolver:
    """``resolve`` with a fixed base: call it with an href. Making one raises InvalidURL when the base is no URL."""

    __slots__ = ("_base", "_directories", "_match", "_origin", "_page")

    def __init__(self, base: str) -> None:
        self._base = limited_href_of(base)
        self._page = self._base.partition("?")[0]
        self._origin = "/".join(self._page.split("/", 3)[:3])
        # Absolute hrefs mean something on a page of any scheme, but the short way knows http(s) pages only.
        plain = len(self._base) <= PLAIN_LENGTH and self._base.startswith(("http://", "https://"))
        self._match: Callable[[str], re.Match[str] | None] = _plain_href if plain else _nothing
        self._directories = _directories(self._page, len(self._origin) + 1) if plain else ()

    def __call__(self, href: str) -> str:
        match = self._match(href)
        if match is None:
            return crawlable(href, self._base)
        root, other_origin, other_path, parents, relative, query = match.groups("")
        path = root or other_path or relative
        if "/." in path or ("%" in path and _escaped_dot(path)):
            return crawlable(href, self._base)
        if root:
            return self._origin + root + query
        if relative or parents:
            return self._directories[len(parents) // len("../")] + relative + query
        if other_origin:
            return origin(other_origin) + (other_path or "/") + query
        return self._page + query if query else self._base


def _directories(page: str, root_length: int) -> tuple[str, ...]:
    """The page's directory, its parent and so on, for as far as a plain href can climb; the root is its own parent."""
    found = [page[: page.rindex("/") + 1]]
    while len(found) <= _PARENTS_KEPT:
        child = found[-1]
        found.append(child[: child.rindex("/", 0, -1) + 1] if len(child) > root_length else child)
    return tuple(found)


def _nothing(_href: str) -> None:
    return None


_resolver: Final = lru_cache(_BASES_REMEMBERED)(Resolver)
