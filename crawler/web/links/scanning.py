"""Reads a page's links without building its tree: one regular expression after the HTML standard's tokenizer.

Most pages are simple enough for that. Where the tree that a browser builds could change the answer (a link in a
<select>, text between table rows, a link left open, templates, frames, ...) ``scan`` says so by returning None, and the
caller builds the tree. Tests hold both ways equal, on real pages and on random ones.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from itertools import islice
from typing import Final

from crawler.web.links import elements, grammar
from crawler.web.links.findings import Findings, is_improvable
from crawler.web.links.markup import (
    Containment,
    attributes,
    embedded_in,
    plain_text,
    read_content,
    repeated_attributes,
)
from crawler.web.links.references import in_attribute

MAX_TOKENS: Final = 200_000
_LARGE_PAGE: Final = 1_000_000  # characters
_LONGEST_REMEMBERED: Final = 300
_LONGEST_CONTENT: Final = 500_000  # characters; to take much more apart takes much memory

# The tree builder moves, drops or reads differently what stands in these or after them.
_UNSURE: Final = frozenset(
    "col colgroup frame frameset image math plaintext select svg table tbody template tfoot thead tr".split()
)
# An open paragraph cannot be seen from inside these, and is there again when they end.
_HIDES_PARAGRAPH: Final = frozenset("applet button caption marquee object td th".split())


class _Unsure(Exception):
    """Only the tree can tell."""


def scan(html: str) -> Findings | None:
    """What the page holds (its first MAX_TOKENS links and notable tags), or None if only its tree can tell."""
    if "\0" in html:
        return None
    reading = _Scan()
    try:
        reading.read(html)
    except _Unsure:
        return None
    if reading.contents_of_blocks and _stands_in_paragraph(reading.contents_of_blocks, html):
        return None
    return reading.found


class _Scan:
    """One pass over a page."""

    __slots__ = ("contents_of_blocks", "found")

    def __init__(self) -> None:
        self.found = Findings()
        self.contents_of_blocks: set[str] = set()  # what links hold that an open paragraph would tear apart

    def read(self, html: str) -> None:
        links, tidy_href, is_inline = self.found.links, grammar.tidy_href.fullmatch, grammar.inline_content.fullmatch
        without_tags = grammar.inline_tag.sub
        for href, text, anchor, content, tag, written, unsure in _all(grammar.tokens, html):
            if anchor:
                its_href = tidy_href(anchor)
                if its_href and its_href[1] and ("<" not in content or is_inline(content)):
                    href, text = its_href[1], content
                else:
                    its = attributes(anchor)
                    self._add_link(its.get("href"), content, its.get("rel", ""))
            if href:  # this branch decides the speed
                if "&" in href:
                    href = in_attribute(href)
                if "#" in href:
                    href = href[: href.index("#")]
                known = links.get(href)
                if known is None:
                    links[href] = ("a", href, plain_text(without_tags("", text) if "<" in text else text), ())
                elif not known[2] or known[3]:
                    self._add_link(href, text, "")
            elif tag:
                self._add_tag(tag.lower(), written)
            elif unsure:
                raise _Unsure

    def _add_link(self, href: str | None, markup: str, rel: str) -> None:
        """A link, and what else its markup holds."""
        if len(markup) > _LONGEST_CONTENT:
            raise _Unsure
        if href is None:
            embedded = embedded_in(markup)
        else:
            reference = href.partition("#")[0]
            known = self.found.links.get(reference)
            if known is None or is_improvable(known):
                text, containment, embedded = read_content(markup)
                if containment is Containment.ESCAPES:
                    raise _Unsure
                if containment is Containment.NEEDS_NO_PARAGRAPH:
                    self.contents_of_blocks.add(markup)
                self.found.add_link("a", reference, text, rel)
            else:
                embedded = embedded_in(markup)
                if rel:
                    self.found.add_link("a", reference, "", rel)
        for name, written in embedded:
            elements.read(self.found, name, attributes(written))

    def _add_tag(self, name: str, written: str) -> None:
        if name in _UNSURE:
            raise _Unsure
        if name in elements.READERS:
            is_repeated = name in ("link", "meta") and len(written) <= _LONGEST_REMEMBERED
            elements.read(self.found, name, repeated_attributes(written) if is_repeated else attributes(written))
        elif name == "a":
            self._add_open_link(attributes(written))

    def _add_open_link(self, its: Mapping[str, str]) -> None:
        """Where a link that is not closed ends is for the tree builder to say, unless nobody needs to know."""
        if "href" in its:
            reference = its["href"].partition("#")[0]
            known = self.found.links.get(reference)
            if known is None or is_improvable(known):
                raise _Unsure
            self.found.add_link("a", reference, "", its.get("rel", ""))


def _stands_in_paragraph(contents: Container[str], html: str) -> bool:
    """True if a paragraph may be open around a link with one of these contents."""
    is_open = is_hidden = False
    for _, _, _, content, tag, _, _ in _all(grammar.tokens_with_paragraphs(), html):
        if tag:
            name = tag.lower()
            if name == "p":
                is_open = True
            elif name == "/p":
                is_open = False
            elif is_open and name in _HIDES_PARAGRAPH:
                is_hidden = True
        elif (is_open or is_hidden) and content in contents:
            return True
    return False


def _all(tokens: re.Pattern[str], html: str) -> Iterable[tuple[str, ...]]:
    """All at once is faster, one by one takes no memory."""
    if len(html) <= _LARGE_PAGE:
        return tokens.findall(html)
    return (token.groups("") for token in islice(tokens.finditer(html), MAX_TOKENS))
