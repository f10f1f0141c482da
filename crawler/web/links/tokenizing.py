"""Takes HTML apart piece by piece, after the HTML standard's tokenizer.

For all that is not worth the scanner's grammar. Time is linear in the text, memory does not grow with the number of
attributes or pieces. Every Python reads these patterns right: no group in them is possessive (see ``CAN_SCAN``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

S: Final = r"\t\n\f\r "  # the standard's white space, for use in a character class
# The standard's own rule for an attribute in any text, in a form that can match in one way only.
ATTRIBUTE: Final = (
    rf"[{S}/]*+(?:=[^{S}/>=]*+|[^{S}/>=]++)"
    rf"""(?:[{S}]*+=[{S}]*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^{S}>]*+)|(?![{S}]*+=))"""
)
# The short way for markup as programs write it: lower case, double quotes, no blanks around "=".
TIDY_ATTRIBUTE: Final = rf'[{S}][a-z0-9_:@.-]++="[^"]*+"'
_FOREIGN_MARKS: Final = frozenset(("svg", "/svg", "math", "/math"))

# Groups: name (with the slash of an end tag) and attributes of a tag that is easy to read, as without more quotes the
# first ">" ends it; of another tag only the name; of a comment nothing.
_opening = re.compile(
    rf"""<(?:(/?[a-zA-Z][^{S}/>]*+)(?:((?:{TIDY_ATTRIBUTE}){{0,40}}[^>"']*+)>)?|[!?]|/[^a-zA-Z])"""
).search
# Some at a time: a group that repeats takes memory each time it does.
_some_attributes = re.compile(rf"(?:{ATTRIBUTE}){{1,100}}").match
_end_of_tag = re.compile(rf"[{S}/]*+>").match
_end_of_comment = re.compile(r"--!?>").search
_in_script = re.compile(rf"<!--(?!-*+>)|-->|</?script(?=[{S}/>])", re.IGNORECASE).finditer


class Piece(NamedTuple):
    """A tag, or with an empty name a comment, and the text after it. Before the first comes an empty one.

    ``name`` is in lower case and has the slash of an end tag. ``end`` is where the tag ends and ``text`` begins. The
    content of a script and its like is the text of its start tag.
    """

    name: str
    written: str  # attributes
    end: int
    text: str


EndOfRawText = Callable[[str, int], int]


def _end_of(name: str) -> EndOfRawText:
    end_tag = re.compile(rf"</{name}[{S}/>]", re.IGNORECASE).search

    def end_of_raw_text(html: str, position: int) -> int:
        found = end_tag(html, position)
        return found.start() if found else len(html)

    return end_of_raw_text


def _end_of_script(html: str, position: int) -> int:
    """Inside what looks like a comment, a script may hold another with its end."""
    in_comment = in_inner = False
    for mark in _in_script(html, position):
        match mark[0].lower():
            case "<!--":
                in_comment = True
            case "-->":
                in_comment = in_inner = False
            case "<script":
                in_inner = in_comment
            case _ if in_inner:
                in_inner = False
            case _:
                return mark.start()
    return len(html)


# Elements whose content is text to the tokenizer, tags and all; in these of a tree also when it is written out again.
RAW_WHEN_SERIALISED: Final[Mapping[str, EndOfRawText]] = {
    **{name: _end_of(name) for name in ("iframe", "noembed", "noframes", "style", "xmp")},
    "script": _end_of_script,
    "plaintext": lambda html, _: len(html),
}
RAW: Final[Mapping[str, EndOfRawText]] = {
    **RAW_WHEN_SERIALISED,
    **{name: _end_of(name) for name in ("textarea", "title")},
}


# Elements whose content nobody sees.
UNSEEN: Final = frozenset(("iframe", "noembed", "noframes", "script", "style"))


def pieces(html: str, raw: Mapping[str, EndOfRawText] = RAW) -> Iterator[Piece]:
    """All pieces of a text; a tag or comment that never ends is none, and the last."""
    name, written, end = "", "", 0
    in_foreign = False
    while end >= 0:
        start = end
        if name in _FOREIGN_MARKS:
            in_foreign = name[0] != "/" and not written.endswith("/")
        elif name in raw and not (in_foreign and written.endswith("/")):
            start = raw[name](html, end)
        opening = _opening(html, start)
        yield Piece(name, written, end, html[end : opening.start() if opening else len(html)])
        if opening is None:
            return
        found, attributes = opening.groups()
        if attributes is not None:
            name, written, end = found.lower(), attributes, opening.end()
        elif found:
            name, (written, end) = found.lower(), _attributes_and_end(html, opening.end())
        else:
            name, written, end = "", "", _end_of_declaration(html, opening.start())


def _attributes_and_end(html: str, start: int) -> tuple[str, int]:
    """Of a tag whose name ends at ``start``; the end is -1 if there is none."""
    position = start
    while some := _some_attributes(html, position):
        position = some.end()
    closing = _end_of_tag(html, position)
    return (html[start : closing.end() - 1], closing.end()) if closing else ("", -1)


def _end_of_declaration(html: str, start: int) -> int:
    """Where a comment, or what the standard takes for one, ends."""
    if html.startswith("<!--", start) and not html.startswith((">", "->"), start + 4):
        end = _end_of_comment(html, start + 4)
        return end.end() if end else -1
    return html.find(">", start + 2) + 1 or -1
