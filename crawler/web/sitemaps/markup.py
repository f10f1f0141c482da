"""Sitemaps, sitemap indexes, RSS and Atom by one streaming XML parser (expat); no tree is built.

Elements are known by their local names and their place, so that missing, wrong or undeclared namespaces do no harm.
Reading stops at the end of the root element. Of a document type only harmless parts are read past: declared entities
with a value and attribute declarations are refused, external entities are never fetched and count as empty.
"""

from typing import Final
from xml.parsers import expat

from crawler.web.sitemaps.entries import MAX_EXTRAS, MAX_VALUE_LENGTH, Broken, Draft, Editor, Kind, SitemapEntry

MAX_DEPTH: Final = 100
_MAX_TOKEN_BYTES: Final = 1 << 20  # of one tag or comment; expat goes over an unfinished one again with every piece

_KINDS: Final[dict[str, Kind]] = {
    "urlset": "urlset", "sitemapindex": "index", "rss": "rss", "RDF": "rss", "feed": "atom",
}  # fmt: skip
# Either of the first two turns up in the other's file.
_ENTRY_NAMES: Final[dict[Kind, tuple[str, ...]]] = {
    "urlset": ("url", "sitemap"), "index": ("sitemap", "url"), "rss": ("item",), "atom": ("entry",),
}  # fmt: skip
_PAGE_FIELDS: Final = frozenset(("loc", "lastmod", "changefreq", "priority"))
_DATE_NAMES: Final = frozenset(("pubDate", "date", "updated", "modified"))
_EARLIER_DATE_NAMES: Final = frozenset(("published", "issued", "created"))


class MarkupReader:
    """Feed it text, take entries out of ``ready``, and ``close`` it at the end of the text."""

    def __init__(self, editor: Editor) -> None:
        self.kind: Kind | None = None  # known once the root element was seen
        self.ready: list[SitemapEntry] = []
        self.finished = False  # The root element has ended: what follows is not part of the document.
        self._editor = editor
        self._entry_names: tuple[str, ...] = ()
        self._is_feed = self._is_sitemap = False
        self._depth = self._entry_depth = self._image_depth = 0  # 0: not inside one
        self._field_name = ""
        self._draft = Draft()
        self._text: list[str] = []  # of the innermost element since its last tag
        self._fed_bytes = 0
        self._last_text = ""
        self._parser = self._new_parser()

    def _new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.EntityDeclHandler = _refuse_entity
        parser.AttlistDeclHandler = _refuse_attributes
        return parser

    def feed(self, text: str) -> None:
        """Reads on; raises Broken where the document cannot be read further."""
        if text and not self.finished:
            octets = text.encode("utf-8")
            self._fed_bytes += len(octets)
            self._last_text = text
            self._parse(octets, is_last=False)
            if self._fed_bytes - self._parser.CurrentByteIndex > _MAX_TOKEN_BYTES:
                raise Broken("a tag or comment of more than a megabyte")
            if sum(map(len, self._text)) > MAX_VALUE_LENGTH:
                self._text[:] = ["".join(self._text)[: MAX_VALUE_LENGTH + 1]]

    def close(self) -> None:
        """Tells that the text has ended; raises Broken when the document has not."""
        if not self.finished:
            self._parse(b"", is_last=True)

    def salvage(self) -> None:
        """After a break: keeps the entry that was being read, if its address was complete."""
        if not self._entry_depth:
            return
        if self._depth == self._entry_depth + 1 and self._last_tag_is_closing():
            self._take_field(self._field_name)
        if self._draft.loc:
            self._finish_entry()

    def _parse(self, octets: bytes, *, is_last: bool) -> None:
        try:
            self._parser.Parse(octets, is_last)
        except expat.ExpatError as error:
            if not self.finished:
                raise Broken(f"XML: {error}") from None

    def _last_tag_is_closing(self) -> bool:
        """Whether the text was cut inside a closing tag, so that what stands before it is whole."""
        cut = max(self._last_text.rfind("<"), self._last_text.rfind("&"))
        return cut >= 0 and self._last_text.startswith("</", cut) and ">" not in self._last_text[cut:]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._text.clear()
        depth = self._depth = self._depth + 1
        local = name.rpartition(":")[2] if ":" in name else name
        if not self._entry_depth:
            if local in self._entry_names:
                self._entry_depth = depth
                self._is_sitemap = local == "sitemap"
                self._draft = Draft()
            elif depth == 1:
                self._take_root(local)
        elif depth == self._entry_depth + 1:
            self._field_name = local
            if local == "image":
                self._image_depth = depth
            elif local == "link" and attributes:
                self._take_link(attributes)
        if depth > MAX_DEPTH:
            raise Broken(f"nested deeper than {MAX_DEPTH} elements")

    def _end(self, name: str) -> None:
        depth = self._depth
        if self._entry_depth:
            if depth == self._entry_depth + 1:
                self._take_field(self._field_name)
                self._image_depth = 0
            elif depth == self._entry_depth:
                self._finish_entry()
            elif self._image_depth and depth == self._image_depth + 1 and name.rpartition(":")[2] == "loc":
                if len(self._draft.images) < MAX_EXTRAS:
                    self._draft.images += (self._value(),)
        self._text.clear()
        self._depth = depth - 1
        self.finished = depth == 1

    def _take_root(self, name: str) -> None:
        kind = _KINDS.get(name)
        if kind is None:
            raise Broken(f"<{name[:40]}> is no sitemap")
        self.kind = kind
        self._entry_names = _ENTRY_NAMES[kind]
        self._is_feed = kind in ("rss", "atom")

    def _take_link(self, attributes: dict[str, str]) -> None:
        href = attributes.get("href", "").strip()
        if not href or len(href) > MAX_VALUE_LENGTH or attributes.get("rel", "alternate") != "alternate":
            return
        if self.kind == "atom":
            self._draft.loc = self._draft.loc or href
        elif self.kind == "urlset" and len(self._draft.alternates) < MAX_EXTRAS:
            self._draft.alternates += ((attributes.get("hreflang", "")[:40], href),)

    def _take_field(self, name: str) -> None:
        if self._is_feed:
            self._take_feed_field(name)
        elif name in _PAGE_FIELDS:
            if name == "loc" and self._draft.loc:  # A second address: the end of its entry was forgotten.
                entry_depth = self._entry_depth
                self._finish_entry()
                self._entry_depth = entry_depth
                self._draft = Draft()
            setattr(self._draft, name, self._value())

    def _take_feed_field(self, name: str) -> None:
        draft = self._draft
        if name == "link":
            draft.loc = draft.loc or self._value()
        elif name in _DATE_NAMES:
            draft.lastmod = self._value() or draft.lastmod
        elif name in _EARLIER_DATE_NAMES:
            draft.lastmod = draft.lastmod or self._value()
        elif name in ("guid", "id"):
            draft.guid = self._value()

    def _finish_entry(self) -> None:
        draft = self._draft
        if not draft.loc:
            # Feeds may name the page by its identifier only; some indexes write the address without <loc>.
            draft.loc = draft.guid if draft.guid.startswith(("http://", "https://")) else self._value()
        entry = self._editor.entry(draft, is_sitemap=self._is_sitemap)
        if entry:
            self.ready.append(entry)
        self._entry_depth = self._image_depth = 0

    def _value(self) -> str:
        text = "".join(self._text).strip()
        return text if len(text) <= MAX_VALUE_LENGTH else ""


def _refuse_entity(_name: str, _is_parameter: bool, value: str | None, *_where: str | None) -> None:
    if value is not None:  # External ones have an address instead, which nobody asks for.
        raise Broken("declares an entity")


def _refuse_attributes(*_declaration: object) -> None:
    raise Broken("declares attributes")
