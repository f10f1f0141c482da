"""Reads a page's links from its lexbor tree: the slower way, for pages that ``scanning`` is not sure of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate, repeat
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from crawler.web.links import elements
from crawler.web.links.findings import Findings, is_improvable
from crawler.web.links.markup import read_content
from crawler.web.links.tokenizing import ATTRIBUTE, TIDY_ATTRIBUTE, S

LARGEST_TREE: Final = 500_000  # characters
_MOST_STEPS: Final = 60_000_000  # from an element to its parent, about 0.2 s
_MOST_COPIES: Final = 500_000  # of formatting elements, about 120 MB
_MOST_MARKUP: Final = 2_000_000  # characters read for the texts of links, which may stand in each other in tables
_MOST_ROOTS: Final = 20  # <html> and <body> tags, which all add to the attributes of the first

_ELEMENTS: Final = ":is(a,area,link,img,meta,iframe,frame,source,base,video,audio)"

_FORMATTING: Final = "b big code em font i s small strike strong tt u".split()
_formatting_starts = re.compile(rf"<(?:b(?:ig)?|code|em|font|i|s(?:mall|tr(?:ike|ong))?|tt|u)[{S}/>]").findall
_tag_starts = re.compile(r"</?[a-z][a-z0-9]*+").findall
# No page has so many attributes in a tag, but scripts look like it after "<". Short tags are passed over first.
_has_crowded_tag = re.compile(
    rf"""<[a-zA-Z][^{S}/>]*+(?!(?:{TIDY_ATTRIBUTE}){{0,9}}[^>"']{{0,400}}+>)(?:{ATTRIBUTE}){{300}}"""
).search

_OPEN_FORMATTING: Final = {f"<{name}": 1 for name in _FORMATTING} | {f"</{name}": -1 for name in _FORMATTING}
# Elements that have no end tag or need none do not nest by themselves.
_NOT_NESTING: Final = (
    "area base br col embed hr img input link meta param source track wbr"
    " body caption colgroup dd dt head html li optgroup option p rp rt tbody td tfoot th thead tr"
).split()


def can_be_built(html: str, largest: int = LARGEST_TREE) -> bool:
    """False for pages on which a tree builder that follows the standard takes quadratic time or memory.

    Every tag may look through all elements open around it, every attribute through those before it, and every
    formatting element left open is repeated in each block that follows.
    """
    if len(html) > largest or _has_crowded_tag(html):
        return False
    lower, tags = html.lower(), html.count("<")
    if lower.count("<html") + lower.count("<body") > _MOST_ROOTS:
        return False
    if tags * tags <= _MOST_COPIES:
        return True
    if tags * tags <= _MOST_STEPS and tags * len(_formatting_starts(lower)) <= _MOST_COPIES:
        return True
    starts = _tag_starts(lower)
    depth = _greatest_rise(map(_Nesting().__getitem__, starts))
    left_open = _greatest_rise(map(_OPEN_FORMATTING.get, starts, repeat(0)))
    return tags * depth <= _MOST_STEPS and tags * left_open <= _MOST_COPIES


class _Nesting(dict[str, int]):
    """How a tag changes the depth."""

    def __init__(self) -> None:
        super().__init__({mark + name: 0 for name in _NOT_NESTING for mark in ("<", "</")})

    def __missing__(self, start: str) -> int:
        self[start] = step = -1 if start.startswith("</") else 1
        return step


def _greatest_rise(steps: Iterable[int]) -> int:
    """How far a sum ever rises above its lowest value before."""
    heights = list(accumulate(steps, initial=0))
    return max(map(int.__sub__, heights, accumulate(heights, min)))


def walk(tree: LexborHTMLParser) -> Findings:
    """What the page holds."""
    found = Findings()
    markup_left = _MOST_MARKUP
    for node in tree.css(_ELEMENTS):
        attributes = node.attributes
        if node.tag != "a":
            elements.read(found, node.tag or "", {name: value or "" for name, value in attributes.items()})
        elif "href" in attributes:
            reference, rel = (attributes["href"] or "").partition("#")[0], attributes.get("rel") or ""
            known = found.links.get(reference)
            if known is None or is_improvable(known):
                markup = (node.inner_html or "") if markup_left > 0 else ""
                markup_left -= len(markup)
                found.add_link("a", reference, read_content(markup)[0], rel)
            elif rel:
                found.add_link("a", reference, "", rel)
    return found
