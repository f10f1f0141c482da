"""Content types, parsed and written as the WHATWG MIME Sniffing standard says (which is what browsers do)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from crawler.web.encoding_labels import encoding_from_label

LONGEST_VALUE = 16 * 1024  # characters of a header read

_HTTP_WHITESPACE = "\t\n\r "
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_QUOTABLE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_QUOTED = re.compile(r'"((?:[^"\\]++|\\.)*)(\\?)(?:"|\Z)', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MediaType:
    """``type/subtype`` with its parameters in order. Type, subtype and parameter names are in lower case."""

    type: str
    subtype: str
    parameters: Mapping[str, str]

    @property
    def essence(self) -> str:
        return f"{self.type}/{self.subtype}"

    @property
    def charset(self) -> str | None:
        """The encoding the charset parameter names, None without a label that the Encoding Standard knows."""
        label = self.parameters.get("charset")
        return encoding_from_label(label) if label else None

    @property
    def is_html(self) -> bool:
        return self.essence in ("text/html", "application/xhtml+xml")

    @property
    def is_xml(self) -> bool:
        return self.subtype.endswith("+xml") or self.essence in ("text/xml", "application/xml")

    def __str__(self) -> str:
        return self.essence + "".join(f";{name}={_written(value)}" for name, value in self.parameters.items())


def content_type(value: str) -> MediaType | None:
    """The media type one value names, None where it names none. Broken parameters are left out, the rest is kept."""
    essence, _, rest = value[:LONGEST_VALUE].strip(_HTTP_WHITESPACE).partition(";")
    kind, slash, subtype = essence.partition("/")
    subtype = subtype.rstrip(_HTTP_WHITESPACE)
    if not (slash and _TOKEN.fullmatch(kind) and _TOKEN.fullmatch(subtype)):
        return None
    return MediaType(kind.lower(), subtype.lower(), MappingProxyType(_parameters(rest)))


def combined_content_type(value: str) -> MediaType | None:
    """The media type of a header that may have been sent more than once and joined with commas.

    The last valid one counts, and keeps the charset of an earlier one of the same type: Fetch's "extract a MIME type".
    """
    if "," not in value:
        return content_type(value)
    chosen: MediaType | None = None
    for part in _split_at_commas(value[:LONGEST_VALUE]):
        media_type = content_type(part)
        if media_type and media_type.essence != "*/*":
            chosen = _with_earlier_charset(media_type, chosen)
    return chosen


def _with_earlier_charset(media_type: MediaType, earlier: MediaType | None) -> MediaType:
    if not earlier or earlier.essence != media_type.essence or "charset" in media_type.parameters:
        return media_type
    kept = {name: value for name, value in earlier.parameters.items() if name == "charset"}
    return MediaType(media_type.type, media_type.subtype, MappingProxyType({**media_type.parameters, **kept}))


def _parameters(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while position < len(text):
        name, value, position = _parameter(text, position)
        if _TOKEN.fullmatch(name) and value is not None and _QUOTABLE.fullmatch(value):
            found.setdefault(name.lower(), value)
    return found


def _parameter(text: str, position: int) -> tuple[str, str | None, int]:
    """The name and value that start at a position, and where the next parameter starts. No value, no parameter."""
    end = text.find(";", position)
    end = len(text) if end < 0 else end
    equals = text.find("=", position, end)
    if equals < 0:
        return text[position:end], None, end + 1
    name = text[position:equals].lstrip(_HTTP_WHITESPACE)
    if quoted := _QUOTED.match(text, equals + 1):
        following = text.find(";", quoted.end())
        return name, _ESCAPE.sub(r"\1", quoted[1]) + quoted[2], len(text) if following < 0 else following + 1
    value = text[equals + 1 : end].rstrip(_HTTP_WHITESPACE)
    return name, value or None, end + 1


def _split_at_commas(value: str) -> list[str]:
    """Splits a list, but not inside quoted strings."""
    parts, start, position = [], 0, 0
    while position < len(value):
        if value[position] == '"' and (quoted := _QUOTED.match(value, position)):
            position = quoted.end()
            continue
        if value[position] == ",":
            parts.append(value[start:position])
            start = position + 1
        position += 1
    return [*parts, value[start:]]


def _written(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
