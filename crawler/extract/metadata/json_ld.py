"""schema.org data in ``<script type="application/ld+json">``: what a page says about itself for search engines.

Much of it on the web is malformed. What can be mended is mended, of the rest the dates are picked out, and nothing
raises. Size, number and depth are bounded.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from selectolax.lexbor import LexborHTMLParser

LONGEST_SCRIPT = 256 * 1024  # characters
MOST_SCRIPTS = 20
MOST_OBJECTS = 1_000
DEEPEST = 4  # levels of objects below a script's root

_WRAPPING = re.compile(
    r"^\s*(?:<!--|/\*\s*<!\[CDATA\[\s*\*/|//\s*<!\[CDATA\[)|(?:-->|/\*\s*\]\]>\s*\*/|//\s*\]\]>|;)\s*$"
)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_DATE = re.compile(r'"(datePublished|dateModified)"\s{0,20}:\s{0,20}"([^"\\]{4,64})"')
# Only these lead from an object to others that describe the same page; below "comment" or "review" are other dates.
_LINKS = ("@graph", "mainEntity", "mainEntityOfPage")
_NOT_THE_PAGE = frozenset("Comment Review Rating Person Organization BreadcrumbList ImageObject UserComments".split())
_PAGES = frozenset("WebPage ItemPage AboutPage ProfilePage CollectionPage QAPage FAQPage".split())


def about_page(tree: LexborHTMLParser) -> dict[str, Any]:
    """The properties of the objects that describe the page, as one: articles before pages before everything else."""
    merged: dict[str, Any] = {}
    for found in sorted(_objects(tree), key=_rank):
        for name, value in found.items():
            merged.setdefault(name, value)
    return merged


def text_of(value: object) -> str | None:
    """A property as text: the string itself, the name of an object, or the first of a list that has one."""
    for candidate in value[:5] if isinstance(value, list) else [value]:
        if isinstance(candidate, Mapping):
            candidate = candidate.get("name")
        if isinstance(candidate, str) and candidate.strip():
            return candidate
    return None


def _objects(tree: LexborHTMLParser) -> Iterator[Mapping[str, Any]]:
    waiting = deque((root, 0) for root in _roots(tree))
    for _ in range(MOST_OBJECTS):
        if not waiting:
            return
        value, depth = waiting.popleft()
        if isinstance(value, list):
            waiting.extend((item, depth + 1) for item in value[:MOST_OBJECTS] if depth < DEEPEST)
        elif isinstance(value, dict):
            if not _types(value) & _NOT_THE_PAGE:
                yield value
            waiting.extend((value[link], depth + 1) for link in _LINKS if link in value and depth < DEEPEST)


def _roots(tree: LexborHTMLParser) -> Iterator[object]:
    scripts = [node for node in tree.tags("script") if _is_json_ld(node.attributes.get("type"))]
    for node in scripts[:MOST_SCRIPTS]:
        yield _parsed((node.text() or "")[:LONGEST_SCRIPT])


def _is_json_ld(script_type: str | None) -> bool:
    return script_type is not None and script_type[:100].partition(";")[0].strip().lower() == "application/ld+json"


def _parsed(text: str) -> object:
    for attempt in (_as_is, _mended):
        try:
            return json.loads(attempt(text), strict=False)
        except (ValueError, RecursionError):  # malformed, a number of 5,000 digits, nested a thousand deep
            continue
    return dict(reversed(_DATE.findall(text)))


def _as_is(text: str) -> str:
    return text


def _mended(text: str) -> str:
    """Without the comment marks and the commas that browsers' own JSON parsers refuse as well."""
    return _TRAILING_COMMA.sub("", _WRAPPING.sub("", _WRAPPING.sub("", text)))


def _types(found: Mapping[str, Any]) -> set[str]:
    value = found.get("@type")
    names = value[:10] if isinstance(value, list) else [value]
    return {name.rpartition("/")[2] for name in names if isinstance(name, str)}


def _rank(found: Mapping[str, Any]) -> int:
    types = _types(found)
    if any(name.endswith(("Article", "Posting", "Report")) for name in types):
        return 0
    return 1 if types & _PAGES else 2
