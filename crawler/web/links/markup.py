"""Attributes, texts and structure of pieces of markup that were cut out of a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Final

from crawler.web.links.elements import READERS, is_asked_for
from crawler.web.links.references import in_attribute, in_text
from crawler.web.links.tokenizing import ATTRIBUTE, RAW_WHEN_SERIALISED, TIDY_ATTRIBUTE, UNSEEN, S, pieces

MAX_TEXT: Final = 2_000  # characters of a link's text
_LONGEST_TEXT: Final = 100_000  # characters it is made from, references and white space included
_SHORT: Final = 10_000  # characters

# Elements that stay inside a link without closing it, nor anything around it.
_HARMLESS: Final = frozenset(
    "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark meter noscript output picture"
    " progress q s samp small span strike strong sub sup time tt u var".split()
)
_EMPTY: Final = frozenset(("", *"br embed img input link meta source track wbr".split()))
# These close an open paragraph, and all that was opened in it, links included.
_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS: Final = _HEADINGS | frozenset(
    "address article aside blockquote center dd details div dl dt fieldset figcaption figure footer header hgroup hr li"
    " main nav ol p section summary ul".split()
)
_LISTS_OF: Final = {"li": ("ol", "ul"), "dt": ("dl",), "dd": ("dl",)}
BREAKING: Final = _BLOCKS | frozenset("br dir form menu option pre table td th tr".split())
_DEEPEST: Final = 50

_attribute = re.compile(
    rf"[{S}/]*+(=[^{S}/>=]*+|[^{S}/>=]++)"
    rf"""(?:[{S}]*+=[{S}]*+(?:"([^"]*+)"|'([^']*+)'|((?!["'])[^{S}>]*+)))?"""
)
# Groups: slash, name and attributes of a tag in markup where every tag ends.
_tags = re.compile(rf"<(/?)([a-zA-Z][^{S}/>]*+)((?:{TIDY_ATTRIBUTE})*(?=>)|(?:{ATTRIBUTE})*[{S}/]*+)>")
_has_unseen = re.compile(rf"<(?:[!?]|/[^a-zA-Z]|(?:svg|{'|'.join(RAW_WHEN_SERIALISED)})[{S}/>])", re.IGNORECASE).search
_has_embedded = re.compile("<(?:area|audio|base|iframe|img|link|meta|source|video)", re.IGNORECASE).search


class Containment(Enum):
    """Whether a tree builder surely leaves the content of a link in this link."""

    ESCAPES = 0  # it may not
    NEEDS_NO_PARAGRAPH = 1  # if no paragraph is open around the link
    CERTAIN = 2


Tag = tuple[str, str, str]  # slash of an end tag, name in lower case, attributes
_NO_TAG: Final = ("", "", "")
# Text, containment, and the tags that add to the findings, as name and attributes. (A plain tuple, for speed.)
Content = tuple[str, Containment, Sequence[tuple[str, str]]]


def attributes(written: str) -> Mapping[str, str]:
    """The attributes of a start tag that anybody asks for: names in lower case, values decoded, the first of a name."""
    found: dict[str, str] = {}
    for name, double_quoted, single_quoted, unquoted in _written_attributes(written):
        name = name.lower()
        if is_asked_for(name) and name not in found:
            found[name] = in_attribute(double_quoted or single_quoted or unquoted)
    return found


def _written_attributes(written: str) -> Iterable[tuple[str, ...]]:
    """All at once is faster, one by one takes no memory."""
    if len(written) <= _SHORT:
        return _attribute.findall(written)
    return (found.groups("") for found in _attribute.finditer(written))


# For tags that all pages of a site repeat.
repeated_attributes = lru_cache(1024)(attributes)


def plain_text(text: str) -> str:
    """Text as it is shown: references decoded, white space collapsed."""
    if len(text) > MAX_TEXT:
        return _collapsed(in_text(text[:_LONGEST_TEXT]))
    if "&" in text:
        text = in_text(text)
    return " ".join(text.split())


def read_content(markup: str) -> Content:
    """What stands in a link. Text is what it shows, or else the ``alt`` of its first image that has one."""
    if "<" not in markup:
        return plain_text(markup), Containment.CERTAIN, ()
    texts, tags = _cut(markup) if len(markup) <= _SHORT and not _has_unseen(markup) else _cut_with_care(markup)
    names = [name for _, name, _ in tags]
    embedded: list[tuple[str, str]] = []
    if not READERS.keys().isdisjoint(names):
        embedded = [(name, written) for slash, name, written in tags if name in READERS and not slash]
    if not BREAKING.isdisjoint(names):
        texts[1:] = [" " + text if name in BREAKING else text for name, text in zip(names, texts[1:], strict=True)]
    return plain_text("".join(texts)) or _first_alt(embedded), _containment(tags), embedded


def embedded_in(markup: str) -> Sequence[tuple[str, str]]:
    """The tags in a link that add to the findings, for links whose text is known already."""
    return read_content(markup)[2] if "<" in markup and _has_embedded(markup) else ()


def _cut(markup: str) -> tuple[list[str], list[Tag]]:
    """Tags (slash, name, attributes) and the texts around them."""
    parts = _tags.split(markup)  # text, slash, name, attributes, text, slash, ...
    names = [name.lower() for name in parts[2::4]]
    return parts[0::4], list(zip(parts[1::4], names, parts[3::4], strict=True))


def _cut_with_care(markup: str) -> tuple[list[str], list[Tag]]:
    """The same without what is not shown: comments, scripts, styles, and the tags that make up a drawing."""
    texts: list[str] = []
    tags: list[Tag] = []
    in_drawing = False
    for name, written, _, text in pieces(markup, RAW_WHEN_SERIALISED):
        bare_name = name.lstrip("/")
        if bare_name == "svg":
            in_drawing = name == "svg" and not written.endswith("/")
        is_passed_over = bare_name == "svg" or bare_name in UNSEEN or (in_drawing and bare_name not in BREAKING)
        tags.append(_NO_TAG if is_passed_over else (name[: len(name) - len(bare_name)], bare_name, written))
        texts.append("" if name in UNSEEN else text)
    return texts, tags[1:]


def _containment(tags: Iterable[Tag]) -> Containment:
    """Follows the tree builder's stack of open elements, through tags that must be opened and closed in order."""
    opened: list[str] = []
    contained = Containment.CERTAIN
    for slash, name, _ in tags:
        if slash:
            if not opened or opened.pop() != name:
                return Containment.ESCAPES
        elif name in _HARMLESS or "-" in name or ":" in name:
            opened.append(name)
        elif name in _BLOCKS and len(opened) < _DEEPEST and not _closes_another(name, opened):
            contained = Containment.NEEDS_NO_PARAGRAPH
            if name != "hr":
                opened.append(name)
        elif name not in _EMPTY:
            return Containment.ESCAPES
    return Containment.ESCAPES if opened else contained


def _closes_another(block: str, opened: list[str]) -> bool:
    """True if the start of a block ends an open paragraph, heading or list item by itself."""
    if "p" in opened or (block in _HEADINGS and not _HEADINGS.isdisjoint(opened)):
        return True
    if (lists := _LISTS_OF.get(block)) is None:
        return False
    nearest = next((name for name in reversed(opened) if name in lists or name in _LISTS_OF), None)
    return nearest not in lists


def _collapsed(text: str) -> str:
    collapsed = " ".join(text.split())
    return collapsed if len(collapsed) <= MAX_TEXT else collapsed[:MAX_TEXT].rstrip()


def _first_alt(embedded: Iterable[tuple[str, str]]) -> str:
    for name, written in embedded:
        if name == "img" and (alt := _collapsed(attributes(written).get("alt", ""))):
            return alt
    return ""
