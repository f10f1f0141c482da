"""Character references (``&amp;``, ``&#39;``) as the HTML standard decodes them, in text and in attribute values."""

import re
from html.entities import html5
from typing import Final

_REPLACEMENT: Final = "\ufffd"
_MOST_DIGITS: Final = 8
_LONGEST_LEGACY_NAME: Final = 6

# Names that browsers also take without their semicolon, such as &copy
_LEGACY: Final = {name: text for name, text in html5.items() if not name.endswith(";")}
# Numbers 128 to 159 mean what they mean in windows-1252, where that has a character.
_C1: Final = {number: bytes((number,)).decode("cp1252", "ignore") or chr(number) for number in range(0x80, 0xA0)}

_reference = re.compile(r"&(?:#(?:[xX]([0-9A-Fa-f]++)|([0-9]++));?+|([A-Za-z][A-Za-z0-9]*+)(;?+)(=?))")


def in_text(text: str) -> str:
    """Text with its character references decoded."""
    return _reference.sub(_decoded_in_text, text) if "&" in text else text


def in_attribute(value: str) -> str:
    """An attribute value decoded; in a query such as ``?a=1&copy=2`` nothing is taken for a reference."""
    return _reference.sub(_decoded_in_attribute, value) if "&" in value else value


def _decoded_in_text(found: re.Match[str]) -> str:
    hexadecimal, decimal, name, semicolon, following = found.groups()
    if not name:
        return _character(hexadecimal, 16) if hexadecimal else _character(decimal, 10)
    if semicolon and (text := html5.get(f"{name};")):
        return text + following
    for length in range(min(len(name), _LONGEST_LEGACY_NAME), 1, -1):
        if text := _LEGACY.get(name[:length]):
            return f"{text}{name[length:]}{semicolon}{following}"
    return found[0]


def _decoded_in_attribute(found: re.Match[str]) -> str:
    name, semicolon, following = found.group(3, 4, 5)
    if not name:
        return _decoded_in_text(found)
    if semicolon and (text := html5.get(f"{name};")):
        return text + following
    # Without its semicolon a name counts only where neither "=" nor a letter or digit follows.
    text = None if following and not semicolon else _LEGACY.get(name)
    return found[0] if text is None else text + semicolon + following


def _character(digits: str, radix: int) -> str:
    significant = digits.lstrip("0")
    number = int(significant, radix) if 0 < len(significant) <= _MOST_DIGITS else 0
    if not 0 < number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return _REPLACEMENT
    return _C1.get(number) or chr(number)
