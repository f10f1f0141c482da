"""A page taken apart once for all who read it: what stands in its scripts, and the tree of the rest.

Most of a shop's page is script. Without scripts, styles, drawings and comments the rest is quick to judge and to parse.
Of a page without microdata, and of one whose tree would take too long to build, only the tags are parsed in which it
speaks about itself.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from crawler.extract.metadata.outline import outline
from crawler.web.links.tokenizing import RAW, S
from crawler.web.links.tree import can_be_built

LONGEST_HTML = 8 * 1024 * 1024  # characters read
LARGEST_TREE = 2_000_000  # characters of markup, without scripts
LONGEST_JSON_LD = 1024 * 1024
MOST_JSON_LD = 50
MOST_PIECES = 50_000

_piece = re.compile(
    rf"<(?:!--|(?P<name>(?i:script|style|svg|template|iframe|noembed|noframes|xmp))(?=[{S}/>])"
    r"(?P<its>(?:[^>\"']++|\"[^\"]*+\"|'[^']*+'){0,2000})>?)"
).search
_end_of_comment = re.compile(r"(?<=<!--)-?>|--!?>").search
_END_OF = {name: re.compile(rf"</(?i:{name})(?=[{S}/>])").search for name in ("svg", "template")}
_is_json_ld = re.compile(rf"type[{S}]*+=[{S}]*+[\"']?[{S}]*+application/ld\+json", re.IGNORECASE).search


class Page(NamedTuple):
    json_ld: list[str]
    tree: LexborHTMLParser  # of the whole page without its scripts, or of its outline


def take_apart(html: str) -> Page:
    """Time and memory are bounded, whatever the page contains."""
    json_ld, rest = _divide(html[:LONGEST_HTML])
    if ("itemprop" in rest or "ITEMPROP" in rest) and can_be_built(rest, LARGEST_TREE):
        return Page(json_ld, _parse(rest))
    return Page(json_ld, _parse(outline(rest)))


def _divide(html: str) -> tuple[list[str], str]:
    """The JSON-LD of a page, and the page without what is no markup. End tags stay behind, which parsers pass over."""
    json_ld: list[str] = []
    kept: list[str] = []
    unclosed: set[str] = set()
    position = 0
    for _ in range(MOST_PIECES):
        piece = _piece(html, position)
        if piece is None:
            break
        kept.append(html[position : piece.start()])
        position = _end(html, piece, unclosed)
        if _says_something(piece) and len(json_ld) < MOST_JSON_LD:
            json_ld.append(html[piece.end() : min(position, piece.end() + LONGEST_JSON_LD)])
    return json_ld, "".join((*kept, html[position:]))


def _end(html: str, piece: re.Match[str], unclosed: set[str]) -> int:
    """Where its content ends. A script or comment that is never closed reaches to the end, as in parsers."""
    name = (piece["name"] or "").lower()
    if not name:
        comment = _end_of_comment(html, piece.start() + 4)
        return comment.end() if comment else len(html)
    if name in RAW:
        return RAW[name](html, piece.end())
    if name in unclosed or piece["its"].endswith("/"):  # <svg/>
        return piece.end()
    if closing := _END_OF[name](html, piece.end()):
        return closing.start()
    unclosed.add(name)  # not looked for again: there is none further on
    return piece.end()


def _says_something(piece: re.Match[str]) -> bool:
    return (piece["name"] or "").lower() == "script" and bool(_is_json_ld(piece["its"]))


def _parse(html: str) -> LexborHTMLParser:
    try:
        return LexborHTMLParser(html)
    except UnicodeEncodeError:  # lone surrogates in a str the caller made
        return LexborHTMLParser(html.encode("utf-8", "replace"))
