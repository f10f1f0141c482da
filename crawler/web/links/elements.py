"""What each element other than ``a`` adds to the findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from crawler.web import directives, srcset
from crawler.web.directives import RobotsDirectives
from crawler.web.links import refresh
from crawler.web.links.findings import MAX_IMAGES, Findings, relations_of

_LONGEST_SET: Final = 64 * 1024  # characters of a srcset
_ROBOTS_NAMES: Final = frozenset(("robots", "crawlspace"))  # all robots, and ours
_META_IMAGES: Final = frozenset("og:image og:image:url og:image:secure_url twitter:image twitter:image:src".split())
_NO_CACHE: Final = RobotsDirectives(nocache=True)

_ASKED_FOR: Final = frozenset(
    "alt content height href http-equiv name poster property rel src srcset title width".split()
)
# Where pages keep the URL of an image that a script is to load.
_is_lazy_name = re.compile(r"data-(?:[a-z-]*(?:src|original|lazy)|image|img|echo|zoom-image|large[_-]image)").match
_is_like_image_url = re.compile(r"\S*/|\S+\.(?:avif|bmp|gif|ico|jpe?g|png|svg|tiff?|webp)\b", re.IGNORECASE).match

Attributes = Mapping[str, str]


def read(found: Findings, tag: str, attributes: Attributes) -> None:
    """Add an element with its tag in lower case. Elements without a reader add nothing."""
    if reader := READERS.get(tag):
        reader(found, tag, attributes)


def is_asked_for(name: str) -> bool:
    """True for the names (in lower case) of attributes that a reader may ask for."""
    return name in _ASKED_FOR or _is_lazy(name)


def _is_lazy(name: str) -> bool:
    return name[:5] == "data-" and _is_lazy_name(name) is not None


def _area(found: Findings, tag: str, attributes: Attributes) -> None:
    if (href := attributes.get("href")) is not None:
        found.add_link(tag, href, _collapsed(attributes, "alt"), attributes.get("rel", ""))


def _link(found: Findings, tag: str, attributes: Attributes) -> None:
    if (href := attributes.get("href")) is None:
        return
    rel = attributes.get("rel", "")
    if found.canonical is None and "canonical" in relations_of(rel):
        found.canonical = href
    found.add_link(tag, href, _collapsed(attributes, "title"), rel)


def _frame(found: Findings, tag: str, attributes: Attributes) -> None:
    """Whatever has a src that is no image."""
    if (src := attributes.get("src")) is not None:
        found.add_link(tag, src, _collapsed(attributes, "title"), "")


def _video(found: Findings, tag: str, attributes: Attributes) -> None:
    _frame(found, tag, attributes)
    if poster := attributes.get("poster"):
        found.add_images("poster", (poster,), {})


def _source(found: Findings, tag: str, attributes: Attributes) -> None:
    """Of a film its ``src``, of a <picture> its ``srcset``."""
    _frame(found, tag, attributes)
    _add_set(found, "picture", attributes)
    for name, value in attributes.items():
        if name.endswith("set") and _is_lazy(name):
            _add_lazy(found, value, attributes)


def _image(found: Findings, tag: str, attributes: Attributes) -> None:
    if len(found.images) >= MAX_IMAGES:
        return
    if src := attributes.get("src"):
        found.add_images("img", (src,), attributes)
    _add_set(found, "srcset", attributes)
    for name, value in attributes.items():
        if _is_lazy(name):
            _add_lazy(found, value, attributes)


def _add_set(found: Findings, source: str, attributes: Attributes) -> None:
    if value := attributes.get("srcset"):
        candidates = srcset.parse(value[:_LONGEST_SET])
        found.add_images(source, [candidate.url for candidate in candidates], attributes)


def _add_lazy(found: Findings, value: str, attributes: Attributes) -> None:
    """One URL or a set of them."""
    value = value.strip()
    if _is_like_image_url(value):
        candidates = srcset.parse(value[:_LONGEST_SET])
        found.add_images("lazy", [candidate.url for candidate in candidates] or [value], attributes)


def _base(found: Findings, tag: str, attributes: Attributes) -> None:
    if found.base_href is None:
        found.base_href = attributes.get("href")


def _meta(found: Findings, tag: str, attributes: Attributes) -> None:
    content = attributes.get("content")
    if content is None:
        return
    name = attributes.get("name", "").strip().lower()
    if name in _ROBOTS_NAMES:
        found.robots |= directives.parse(content)
    elif name in _META_IMAGES or attributes.get("property", "").strip().lower() in _META_IMAGES:
        found.add_images("meta", (content,), {})
    match attributes.get("http-equiv", "").strip().lower():
        case "refresh":
            _refresh(found, content)
        case "pragma" if content.strip().lower() == "no-cache":
            found.robots |= _NO_CACHE


def _refresh(found: Findings, content: str) -> None:
    """Only the first counts; one without a URL is a reload."""
    asked = None if found.refreshed else refresh.parse(content)
    if asked is not None:
        found.refreshed = True
        if asked.url is not None:
            found.add_link("refresh", asked.url, "", "")


def _collapsed(attributes: Attributes, name: str) -> str:
    return " ".join(attributes.get(name, "").split())


READERS: Final[dict[str, Callable[[Findings, str, Attributes], None]]] = {
    "area": _area,
    "audio": _frame,
    "base": _base,
    "frame": _frame,
    "iframe": _frame,
    "img": _image,
    "link": _link,
    "meta": _meta,
    "source": _source,
    "video": _video,
}
