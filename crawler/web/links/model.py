"""The values that reading a page's links gives."""

from typing import NamedTuple

from crawler.web.directives import RobotsDirectives

# What a <link> may say about another page, as opposed to style sheets, icons, fonts and the like.
_PAGE_RELATIONS = frozenset(("next", "prev", "canonical", "alternate", "amphtml", "first", "last", "author", "license"))


class Link(NamedTuple):
    """A link as it is fetched: ``url`` is absolute (http, https or ftp) and has no fragment.

    ``text`` is what the link shows, white space collapsed: its text, or the ``alt`` of the image it wraps. ``rel``
    holds lower-case words. ``nofollow`` is true when ``rel`` or the page's robots meta tag says so. ``tag`` is the
    element (a, area, link, iframe, frame, source, video, audio) or ``refresh`` for a meta refresh.
    """

    url: str
    text: str = ""
    rel: tuple[str, ...] = ()
    nofollow: bool = False
    tag: str = "a"

    @property
    def is_page(self) -> bool:
        """False for what only serves the page itself: style sheets, icons, films and sounds."""
        if self.tag == "link":
            return not _PAGE_RELATIONS.isdisjoint(self.rel)
        return self.tag not in ("source", "video", "audio")


class Image(NamedTuple):
    """An image that the page shows or names; ``url`` as in Link, ``width`` and ``height`` as the markup says.

    ``source`` tells where it stood: ``img``, ``srcset``, ``picture`` (its <source>), ``lazy`` (a data- attribute for a
    script), ``poster`` (of a film) or ``meta`` (Open Graph and Twitter cards).
    """

    url: str
    alt: str = ""
    source: str = "img"
    width: int | None = None
    height: int | None = None


class PageLinks(NamedTuple):
    """Everything on a page that leads elsewhere, each target once and in the order of the page."""

    links: tuple[Link, ...]
    images: tuple[Image, ...]
    canonical: str | None
    next: str | None
    meta_robots: RobotsDirectives
    base: str
