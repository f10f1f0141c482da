"""What a page says about itself: title, description, language, times, canonical URL, Open Graph and a little more.

Every field is optional, white space in texts is collapsed and lengths are bounded. Times are aware datetimes in UTC;
what is no date, or lies outside the years 1900 to 2199, is left out. Nothing raises, whatever the page contains.

The page's own statements win in this order: Open Graph and article tags, then JSON-LD, then Dublin Core and other meta
tags, then ``<time>`` and the ``Last-Modified`` header. Titles and descriptions begin with the plain HTML ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.extract.metadata import json_ld, meta_tags
from crawler.extract.metadata.meta_tags import MetaTags, tidy
from crawler.extract.metadata.outline import outline
from crawler.web.charset import decode
from crawler.web.dates import loose_date
from crawler.web.urls import InvalidURL, resolve

__all__ = ["Metadata", "extract", "from_tree"]

LONGEST_HTML = 8 * 1024 * 1024  # characters read by ``extract``
LONGEST_TITLE = 1_000
MOST_KEYWORDS = 50
MOST_TIME_ELEMENTS = 20
_DEEPEST_DRAWING = 20

_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}")
_FIRST_YEAR, _LAST_YEAR = 1900, 2199  # beyond them stand the defaults of careless software, such as 0001-01-01


@dataclass(frozen=True, slots=True)
class Metadata:
    """``open_graph`` keeps full property names; a property that the page repeats is a list, in page order."""

    title: str | None = None
    description: str | None = None
    language: str | None = None
    canonical: str | None = None
    published_time: datetime | None = None
    modified_time: datetime | None = None
    author: str | None = None
    site_name: str | None = None
    keywords: tuple[str, ...] = ()
    open_graph: Mapping[str, str | list[str]] = field(default_factory=dict)


def extract(
    html: bytes | str, url: str, *, charset: str | None = None, last_modified: str | datetime | None = None
) -> Metadata:
    """The metadata of a page at ``url``. ``charset`` is what its header says, ``last_modified`` likewise."""
    if isinstance(html, bytes):
        html = decode(html[: LONGEST_HTML * 4], f"text/html;charset={charset}" if charset else None).text
    return from_tree(_parse(outline(html[:LONGEST_HTML])), url, last_modified=last_modified)


def from_tree(tree: LexborHTMLParser, url: str, *, last_modified: str | datetime | None = None) -> Metadata:
    """The same from a page that is parsed already."""
    tags, about = meta_tags.collect(tree), json_ld.about_page(tree)
    return Metadata(
        title=_title(tree) or meta_tags.first(tags, meta_tags.TITLE) or _text(about, "headline", LONGEST_TITLE),
        description=meta_tags.first(tags, meta_tags.DESCRIPTION) or _text(about, "description"),
        language=_language(tree, tags, about),
        canonical=_canonical(tree, url),
        published_time=_first_date(_published(tree, tags, about)),
        modified_time=_first_date(_modified(tree, tags, about, last_modified)),
        author=_text({"author": meta_tags.first(tags, meta_tags.AUTHOR) or about.get("author")}, "author"),
        site_name=meta_tags.first(tags, meta_tags.SITE_NAME) or _text(about, "publisher"),
        keywords=_keywords(tags),
        open_graph=meta_tags.open_graph(tags),
    )


def _parse(html: str) -> LexborHTMLParser:
    try:
        return LexborHTMLParser(html)
    except UnicodeEncodeError:  # lone surrogates in a str the caller made
        return LexborHTMLParser(html.encode("utf-8", "replace"))


def _title(tree: LexborHTMLParser) -> str | None:
    """The first ``<title>`` that is the document's: drawings have titles as well."""
    for node in tree.tags("title")[:10]:
        if not _is_in_drawing(node):
            return tidy(node.text() or "", LONGEST_TITLE) or None
    return None


def _is_in_drawing(node: LexborNode) -> bool:
    ancestor = node.parent
    for _ in range(_DEEPEST_DRAWING):
        if ancestor is None or ancestor.tag in ("head", "body", "svg"):
            break
        ancestor = ancestor.parent
    return ancestor is not None and ancestor.tag == "svg"


def _text(about: Mapping[str, object], name: str, longest: int = meta_tags.LONGEST_VALUE) -> str | None:
    return tidy(json_ld.text_of(about.get(name)) or "", longest) or None


def _language(tree: LexborHTMLParser, tags: MetaTags, about: Mapping[str, object]) -> str | None:
    attributes = tree.root.attributes if tree.root else {}
    stated = (attributes.get("lang"), attributes.get("xml:lang"), meta_tags.first(tags, meta_tags.LANGUAGE))
    for value in (*stated, json_ld.text_of(about.get("inLanguage"))):
        tag = (value or "")[:100].partition(",")[0].strip().replace("_", "-")
        if _LANGUAGE.fullmatch(tag):
            return tag
    return None


def _canonical(tree: LexborHTMLParser, url: str) -> str | None:
    for node in tree.tags("link"):
        attributes = node.attributes
        if "canonical" in (attributes.get("rel") or "")[:200].lower().split() and (href := attributes.get("href")):
            base = _resolved(_base_href(tree), url) or url
            return _resolved(href, base)
    return None


def _base_href(tree: LexborHTMLParser) -> str | None:
    return next((href for node in tree.tags("base")[:10] if (href := node.attributes.get("href")) is not None), None)


def _resolved(href: str | None, base: str) -> str | None:
    try:
        return None if href is None else resolve(href, base)
    except InvalidURL:
        return None


def _published(tree: LexborHTMLParser, tags: MetaTags, about: Mapping[str, object]) -> Iterator[object]:
    yield from _values(tags, meta_tags.PUBLISHED_FIRST)
    yield json_ld.text_of(about.get("datePublished") or about.get("dateCreated"))
    yield from _values(tags, meta_tags.PUBLISHED_THEN)
    times = _time_elements(tree)
    yield from (moment for moment, role in times if role == "datepublished")
    yield from (moment for moment, role in times if role != "datemodified")


def _modified(
    tree: LexborHTMLParser, tags: MetaTags, about: Mapping[str, object], last_modified: str | datetime | None
) -> Iterator[object]:
    yield from _values(tags, meta_tags.MODIFIED_FIRST)
    yield json_ld.text_of(about.get("dateModified"))
    yield from _values(tags, meta_tags.MODIFIED_THEN)
    yield from (moment for moment, role in _time_elements(tree) if role == "datemodified")
    yield last_modified


def _values(tags: MetaTags, names: Iterable[str]) -> Iterator[str]:
    return (tags[name][0] for name in names if name in tags)


def _time_elements(tree: LexborHTMLParser) -> list[tuple[str, str]]:
    """The moments of ``<time datetime>`` elements, each with what it is said to be in lower case."""
    found = []
    for node in tree.tags("time")[:MOST_TIME_ELEMENTS]:
        attributes = node.attributes
        if moment := attributes.get("datetime"):
            role = "datepublished" if "pubdate" in attributes else (attributes.get("itemprop") or "").lower()
            found.append((moment, role))
    return found


def _first_date(candidates: Iterable[object]) -> datetime | None:
    for candidate in candidates:
        moment = loose_date(candidate) if isinstance(candidate, str) else candidate
        if isinstance(moment, datetime) and _FIRST_YEAR <= moment.year <= _LAST_YEAR:
            return moment
    return None


def _keywords(tags: MetaTags) -> tuple[str, ...]:
    listed = (part.strip() for name in meta_tags.KEYWORDS for value in tags.get(name, ()) for part in value.split(","))
    return tuple(dict.fromkeys(part for part in listed if part))[:MOST_KEYWORDS]
