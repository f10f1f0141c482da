"""What a page or its server tells robots to do with it: ``<meta name="robots">`` and ``X-Robots-Tag``.

Both say the same things in the same words, so they share one value, ``RobotsDirectives``. Two sets of directives
merge with ``|``, and the stricter word wins: no ``index`` or ``all`` takes a ``noindex`` back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from crawler.web.dates import loose_date

LONGEST_CONTENT = 4096  # characters read of one tag or header; the rest is ignored

_IMAGE_PREVIEWS = ("none", "standard", "large")  # strictest first


@dataclass(frozen=True, slots=True)
class RobotsDirectives:
    """The directives in force; the default value restricts nothing.

    ``nocache`` means that no copy may be shown to others (``noarchive`` and ``nocache`` are two words for it).
    The limits are None where there is none.
    """

    noindex: bool = False
    nofollow: bool = False
    nocache: bool = False
    nosnippet: bool = False
    noimageindex: bool = False
    notranslate: bool = False
    noai: bool = False
    noimageai: bool = False
    max_snippet_characters: int | None = None
    max_video_preview_seconds: int | None = None
    max_image_preview: str | None = None
    unavailable_after: datetime | None = None

    def __or__(self, other: RobotsDirectives) -> RobotsDirectives:
        if other is UNRESTRICTED or self is UNRESTRICTED:
            return self if other is UNRESTRICTED else other
        return RobotsDirectives(
            noindex=self.noindex or other.noindex,
            nofollow=self.nofollow or other.nofollow,
            nocache=self.nocache or other.nocache,
            nosnippet=self.nosnippet or other.nosnippet,
            noimageindex=self.noimageindex or other.noimageindex,
            notranslate=self.notranslate or other.notranslate,
            noai=self.noai or other.noai,
            noimageai=self.noimageai or other.noimageai,
            max_snippet_characters=_lower(self.max_snippet_characters, other.max_snippet_characters),
            max_video_preview_seconds=_lower(self.max_video_preview_seconds, other.max_video_preview_seconds),
            max_image_preview=_smaller_preview(self.max_image_preview, other.max_image_preview),
            unavailable_after=_earlier(self.unavailable_after, other.unavailable_after),
        )

    def is_unavailable(self, now: datetime) -> bool:
        """True once the page's own expiry date has passed."""
        return self.unavailable_after is not None and now >= self.unavailable_after


UNRESTRICTED = RobotsDirectives()

_NOCACHE = RobotsDirectives(nocache=True)
PAGE_WORDS = {
    "noindex": RobotsDirectives(noindex=True),
    "nofollow": RobotsDirectives(nofollow=True),
    "none": RobotsDirectives(noindex=True, nofollow=True),
    "noarchive": _NOCACHE,
    "nocache": _NOCACHE,
    "nosnippet": RobotsDirectives(nosnippet=True),
    "noimageindex": RobotsDirectives(noimageindex=True),
    "notranslate": RobotsDirectives(notranslate=True),
    "noai": RobotsDirectives(noai=True),
    "noimageai": RobotsDirectives(noimageai=True),
}
# In the header, "none" is taken to leave nothing allowed at all: no copy either.
HEADER_WORDS = PAGE_WORDS | {"none": RobotsDirectives(noindex=True, nofollow=True, nocache=True)}
_VALUED_NAMES = frozenset(("max-snippet", "max-video-preview", "max-image-preview", "unavailable_after"))
_SEPARATORS = re.compile(r"[\s;]+")
_SPACED_COLON = re.compile(r"\s*:\s*")
_LIMIT = re.compile(r"[0-9]{1,9}")  # "-1" says "no limit", which is what None says


def is_directive(name: str) -> bool:
    """True for the name of a directive we know, in lower case: tells ``max-snippet: 20`` from ``somebot: noindex``."""
    return name in PAGE_WORDS or name in _VALUED_NAMES or name in ("all", "index", "follow")


def parse(content: str, words: Mapping[str, RobotsDirectives] = PAGE_WORDS) -> RobotsDirectives:
    """The directives in one ``content`` attribute, or in a header value with ``HEADER_WORDS``.

    Words may be separated by commas, blanks or semicolons, in any case; unknown words are ignored.
    """
    found = UNRESTRICTED
    pieces = content[:LONGEST_CONTENT].lower().split(",")
    for index, piece in enumerate(pieces):
        tightened = _SPACED_COLON.sub(":", piece.strip())
        if tightened.startswith("unavailable_after:"):
            # A comma inside the date ("Friday, 25-Jun-10 …") has cut it in two.
            found |= _expiry(tightened[18:], *pieces[index + 1 : index + 2])
        else:
            for word in _SEPARATORS.split(tightened):
                found |= words.get(word) or _limits(word)
    return found


def _expiry(text: str, following: str = "") -> RobotsDirectives:
    moment = loose_date(text) or loose_date(f"{text},{following}")
    return RobotsDirectives(unavailable_after=moment) if moment else UNRESTRICTED


def _limits(word: str) -> RobotsDirectives:
    name, _, value = word.partition(":")
    if name == "max-snippet" and _LIMIT.fullmatch(value):
        return RobotsDirectives(max_snippet_characters=int(value))
    if name == "max-video-preview" and _LIMIT.fullmatch(value):
        return RobotsDirectives(max_video_preview_seconds=int(value))
    if name == "max-image-preview" and value in _IMAGE_PREVIEWS:
        return RobotsDirectives(max_image_preview=value)
    return UNRESTRICTED


def _lower(one: int | None, other: int | None) -> int | None:
    return min(one, other) if one is not None and other is not None else one if other is None else other


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one and other else one or other


def _smaller_preview(one: str | None, other: str | None) -> str | None:
    return min(one, other, key=_IMAGE_PREVIEWS.index) if one and other else one or other
