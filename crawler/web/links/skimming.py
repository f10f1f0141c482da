"""Reads links tag by tag, for pages that are too big or too deeply nested to build their tree.

Tags are found as the HTML standard's tokenizer finds them, but nothing is known of the tree: links count that a tree
would not have (in a template, say), and the text of a link that is never closed ends with the next link. Time is linear
in the page.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from crawler.web.links import elements
from crawler.web.links.findings import Findings
from crawler.web.links.markup import BREAKING, attributes, plain_text
from crawler.web.links.tokenizing import UNSEEN, Piece, pieces

MAX_PIECES: Final = 200_000
_MOST_TEXTS: Final = 100  # of one link


def skim(html: str) -> Findings:
    """What the first MAX_PIECES tags and comments of a page hold."""
    skimming = _Skim()
    for piece in islice(pieces(html), MAX_PIECES):
        skimming.add(piece)
    skimming.close_link()
    return skimming.found


class _Skim:
    __slots__ = ("_alt", "_link", "_texts", "found")

    def __init__(self) -> None:
        self.found = Findings()
        self._link: tuple[str, str] | None = None  # href and rel
        self._texts: list[str] = []
        self._alt = ""

    def add(self, piece: Piece) -> None:
        name = piece.name
        if name in ("a", "/a"):
            self.close_link()
        if name == "a":
            its = attributes(piece.written)
            self._link = (its["href"], its.get("rel", "")) if "href" in its else None
        elif name in elements.READERS:
            its = attributes(piece.written)
            elements.read(self.found, name, its)
            self._alt = self._alt or (" ".join(its.get("alt", "").split()) if name == "img" else "")
        if self._link and len(self._texts) < _MOST_TEXTS and name not in UNSEEN:
            self._texts.append(f" {piece.text}" if name.lstrip("/") in BREAKING else piece.text)

    def close_link(self) -> None:
        if self._link:
            href, rel = self._link
            self.found.add_link("a", href, plain_text("".join(self._texts)) or self._alt, rel)
        self._link = None
        self._texts.clear()
        self._alt = ""
