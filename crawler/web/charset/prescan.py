"""Reads the encoding a page declares in its own first bytes, by the HTML standard's prescan.

Quoting, comments and unfinished tags are treated as the standard says, so that we find what browsers find: what stands
inside a comment or a broken attribute does not count. Time is linear in the bytes given.
"""

from __future__ import annotations

import re

from crawler.web.encoding_labels import encoding_from_label

PRESCAN_BYTES = 1024

_WS = rb"\t\n\x0c\r "
# One attribute. Possessive quantifiers: an attribute that the end of the bytes cuts off is no attribute at all.
_ATTRIBUTE = re.compile(
    rb"[" + _WS + rb"/]*+"
    rb"([^" + _WS + rb"/>][^" + _WS + rb"/>=]*+)"
    rb"(?:[" + _WS + rb"]*+=[" + _WS + rb"]*+"
    rb"(?:\"([^\"]*+)\"|'([^']*+)'|((?![\"'])[^" + _WS + rb">]*+)(?=[" + _WS + rb">]))"
    rb"|[" + _WS + rb"]*+(?=[^=" + _WS + rb"]))"
)
_TAG_END = re.compile(rb"[" + _WS + rb"/]*+>")
_META = re.compile(rb"<meta(?=[" + _WS + rb"/])", re.IGNORECASE)
_TAG_NAME = re.compile(rb"</?[a-z][^" + _WS + rb">]*+(?=[" + _WS + rb">])", re.IGNORECASE)
_CHARSET_IN_CONTENT = re.compile(
    rb"charset[" + _WS + rb"]*=[" + _WS + rb"]*(?:\"([^\"]*)\"|'([^']*)'|[\"']|([^" + _WS + rb";]*))",
    re.IGNORECASE,
)
_XML_ENCODING = re.compile(rb"<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\">]*)\"|'([^'>]*)')[^>]*>")


def prescan(head: bytes) -> str | None:
    """The encoding declared in these bytes by ``<meta>``, else by an XML declaration; None without a valid one."""
    if head.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if head.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    return _from_meta(head) or _from_xml_declaration(head)


def _from_meta(head: bytes) -> str | None:
    position = head.find(b"<")
    while position >= 0:
        if meta := _META.match(head, position):
            position, attributes = _attributes(head, meta.end())
            if position >= 0 and (encoding := _declared(attributes)):
                return encoding
        else:
            position = _after_markup(head, position)
        position = head.find(b"<", position) if position >= 0 else -1
    return None


def _after_markup(head: bytes, position: int) -> int:
    """Where to go on after the markup that starts here; -1 when the bytes end inside it."""
    if head.startswith(b"<!--", position):
        end = head.find(b"-->", position + 2)
        return end + 3 if end >= 0 else -1
    if tag := _TAG_NAME.match(head, position):
        return _attributes(head, tag.end())[0]
    if head[position + 1 : position + 2] in (b"!", b"/", b"?"):
        return head.find(b">", position)
    return position + 1


def _attributes(head: bytes, position: int) -> tuple[int, dict[bytes, bytes]]:
    """The attributes of a tag, the first of each name, and where the tag ends; -1 when the bytes end first."""
    found: dict[bytes, bytes] = {}
    while not (end := _TAG_END.match(head, position)):
        if not (attribute := _ATTRIBUTE.match(head, position)):
            return -1, {}
        name, double, single, bare = attribute.groups()
        found.setdefault(name.lower(), (double or single or bare or b"").lower())
        position = attribute.end()
    return end.end(), found


def _declared(attributes: dict[bytes, bytes]) -> str | None:
    if b"charset" in attributes:
        return _as_declared_in_page(attributes[b"charset"])
    if attributes.get(b"http-equiv") == b"content-type":
        return _from_content(attributes.get(b"content", b""))
    return None


def _from_content(content: bytes) -> str | None:
    if not (match := _CHARSET_IN_CONTENT.search(content)):
        return None
    double, single, bare = match.groups()
    return _as_declared_in_page(double or single or bare or b"")


def _from_xml_declaration(head: bytes) -> str | None:
    if not (match := _XML_ENCODING.match(head)):
        return None
    label = match[1] or match[2] or b""
    return None if any(byte <= 0x20 for byte in label) else _as_declared_in_page(label)


def _as_declared_in_page(label: bytes) -> str | None:
    """A page whose declaration could be read as ASCII is not in UTF-16, and no page means x-user-defined."""
    encoding = encoding_from_label(label.decode("latin-1"))
    if encoding in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding
