"""Reduces a page to the few tags that metadata stand in, so that the rest of it need not be parsed.

A page is mostly body, and a parser's time grows with the square of how deep elements are nested: reading only these
tags is faster on ordinary pages and linear on hostile ones. Comments, scripts and drawings are stepped over, so that
nothing is found inside them that the parser would not find.
"""

from __future__ import annotations

import re

MOST_PIECES = 20_000
LONGEST_TAG = 20_000  # characters; a longer tag is a data URI or an attack
LONGEST_CONTENT = 1024 * 1024  # characters of a title or script

_TAGS = ("html", "meta", "link", "base", "time")
_ELEMENTS = ("title", "script", "style", "textarea", "svg", "math", "xmp", "noembed", "noframes", "iframe", "template")
_HAS_NO_CONTENT = re.compile(r"(?i:svg|math)\b[^>]*+(?<=/)>")
# The first letters rule most tags out before the names are compared. A tag of thousands of attributes is given up
# half-way: that bounds what the pattern has to remember.
_PIECE = re.compile(
    rf"<(?=[!bhilmnstxBHILMNSTX])(?:!--|(?P<name>(?i:{'|'.join(_TAGS + _ELEMENTS)}))(?=[\s/>])"
    r"(?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+)){0,5000}>?)"
)
_END_OF_COMMENT = re.compile(r"(?<=<!--)-?>|--!?>")
_END_OF = {name: re.compile(rf"</(?i:{name})(?=[\s/>])[^>]*+>?") for name in _ELEMENTS}


def outline(html: str) -> str:
    """The tags of a page that say something about it, in order, as a page of its own."""
    kept: list[str] = []
    position = 0
    for _ in range(MOST_PIECES):
        piece = _PIECE.search(html, position)
        if piece is None:
            break
        name = (piece["name"] or "").lower()
        end = piece.end() if name in _TAGS else _end_of_element(html, piece, name)
        if _is_wanted(name, piece[0]):
            kept.append(html[piece.start() : min(end, piece.end() + LONGEST_CONTENT)])
            if name in _ELEMENTS:
                kept.append(f"</{name}>")  # once more if it has its own, but the content may have been cut
        position = end
    return "".join(kept)


def _end_of_element(html: str, piece: re.Match[str], name: str) -> int:
    """Where an element or comment ends. What is never closed reaches to the end of the page, as in parsers."""
    if name and _HAS_NO_CONTENT.match(piece[0], 1):
        return piece.end()
    end = (_END_OF[name] if name else _END_OF_COMMENT).search(html, piece.end())
    return end.end() if end else len(html)


def _is_wanted(name: str, tag: str) -> bool:
    if not tag.endswith(">") or len(tag) > LONGEST_TAG:
        return False
    return name in _TAGS or name == "title" or (name == "script" and "ld+json" in tag.lower())
