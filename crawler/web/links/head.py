"""The head of a page, for readers of titles and meta tags who need no tree of the whole page."""

from __future__ import annotations

from itertools import islice
from typing import Final

from crawler.web.links.tokenizing import pieces

MAX_PIECES: Final = 20_000
_BLANKS: Final = "\t\n\f\r "
_RAW: Final = frozenset(("script", "style", "title"))  # they count with their end
_NAMES: Final = ("base", "head", "html", "link", "meta", "noscript", *_RAW)
_IN_HEAD: Final = frozenset(("", *_NAMES, *(f"/{name}" for name in _NAMES)))


def head_of(html: str) -> str:
    """All before the first tag or text that belongs to the body; it is seldom more than a few KB."""
    head_end = 0
    for name, _, end, text in islice(pieces(html), MAX_PIECES):
        if name not in _IN_HEAD:
            break
        if name not in _RAW:
            head_end = end
            if text.strip(_BLANKS):
                break
    return html[:head_end]
