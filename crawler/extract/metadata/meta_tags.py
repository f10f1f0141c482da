"""The ``<meta>`` tags of a page as one table, and the names under which the web states the same thing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from selectolax.lexbor import LexborHTMLParser

MOST_TAGS = 500
MOST_VALUES_OF_A_NAME = 50
LONGEST_VALUE = 5_000  # characters

TITLE = ("og:title", "twitter:title", "dc.title", "dcterms.title")
DESCRIPTION = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
LANGUAGE = ("content-language", "og:locale", "dc.language", "dcterms.language", "language")
AUTHOR = ("author", "article:author", "dc.creator", "dcterms.creator", "twitter:creator", "parsely-author")
SITE_NAME = ("og:site_name", "application-name")
KEYWORDS = ("keywords", "news_keywords", "article:tag")
# Each in two parts, because structured data ranks between what is said for machines and what is said by habit.
PUBLISHED_FIRST = ("article:published_time", "og:published_time", "article:published", "datepublished")
PUBLISHED_THEN = (
    "dcterms.issued", "dc.date.issued", "dcterms.created", "dc.date.created", "dcterms.date", "dc.date",
    "parsely-pub-date", "sailthru.date", "citation_publication_date", "article.published", "publication_date",
    "publish-date", "publishdate", "publish_date", "pubdate", "datecreated", "date",
)  # fmt: skip
MODIFIED_FIRST = ("article:modified_time", "og:updated_time", "article:modified", "datemodified")
MODIFIED_THEN = (
    "dcterms.modified", "dc.date.modified", "last-modified", "lastmod", "lastmodified", "modified", "revised",
)  # fmt: skip

_OPEN_GRAPH = ("og:", "article:", "book:", "profile:", "video:", "music:", "product:")
_NAME_ATTRIBUTES = ("property", "name", "itemprop", "http-equiv")
# NUL and lone surrogates can be neither stored nor sent as text.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

MetaTags = Mapping[str, Sequence[str]]


def tidy(text: str, longest: int = LONGEST_VALUE) -> str:
    """Text with its white space collapsed and its length bounded, fit to be stored."""
    return " ".join(_UNSTORABLE.sub("", text[: longest * 4]).split())[:longest]


def collect(tree: LexborHTMLParser) -> MetaTags:
    """The contents of all ``<meta>`` tags by name in lower case, in document order."""
    contents_by_name: dict[str, list[str]] = {}
    for node in tree.tags("meta")[:MOST_TAGS]:
        attributes = node.attributes
        content = tidy(attributes.get("content") or "")
        if content:
            for name in _names(attributes):
                values = contents_by_name.setdefault(name, [])
                if len(values) < MOST_VALUES_OF_A_NAME:
                    values.append(content)
    return contents_by_name


def _names(attributes: Mapping[str, str | None]) -> list[str]:
    """A tag has one name as a rule; a property may be a list of names."""
    for attribute in _NAME_ATTRIBUTES:
        if value := attributes.get(attribute):
            return value[:200].lower().split()[:5]
    return []


def first(tags: MetaTags, names: Sequence[str]) -> str | None:
    """The first value of the first of these names that the page has."""
    return next((tags[name][0] for name in names if name in tags), None)


def open_graph(tags: MetaTags) -> dict[str, str | list[str]]:
    """The Open Graph properties with their prefix. One value is a string, repeated ones are a list in page order."""
    return {
        name: values[0] if len(values) == 1 else list(values)
        for name, values in tags.items()
        if name.startswith(_OPEN_GRAPH)
    }
