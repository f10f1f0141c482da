"""Bytes to text with the WHATWG meaning of each encoding. Nothing raises: what cannot be decoded becomes U+FFFD.

Python's codecs do the work where they agree with the standard. Where they leave bytes undefined that browsers decode
(C1 controls in the windows code pages, NEC and IBM characters in EUC-JP, the euro sign in GBK) they are added here.
"""

from __future__ import annotations

import codecs
from functools import cache

REPLACEMENT = "\ufffd"

# Encodings whose Python codec has another name.
_PYTHON_CODECS = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "ibm866": "cp866",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
_NOT_SINGLE_BYTE = frozenset(
    "utf-8 utf-16le utf-16be utf-32le utf-32be gbk gb18030 big5 euc-jp iso-2022-jp shift_jis euc-kr".split()
)
# Where the standard's tables map a byte differently from Python's.
_OTHER_CHARACTERS = {
    "koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
}
# JIS X 0208 signs that Microsoft, and so the web, maps to the full-width forms.
_EUC_JP_SIGNS = (("〜", "～"), ("‖", "∥"), ("−", "－"), ("¢", "￠"), ("£", "￡"), ("¬", "￢"))


def python_codec(encoding: str) -> str | None:
    """The Python codec nearest to an encoding; None for the two that Python has not."""
    if encoding in ("replacement", "x-user-defined"):
        return None
    return codecs.lookup(_PYTHON_CODECS.get(encoding, encoding)).name


def decode_as(body: bytes, encoding: str) -> str:
    """The text of bytes in an encoding of the standard (or UTF-32), without looking for a byte order mark."""
    if encoding == "utf-8":
        return body.decode("utf-8", "replace")
    if encoding == "replacement":
        return REPLACEMENT if body else ""
    if encoding == "euc-jp":
        return _decode_euc_jp(body)
    if encoding in _NOT_SINGLE_BYTE:
        errors = "crawler.euro" if encoding == "gbk" else "replace"
        return body.decode(_PYTHON_CODECS.get(encoding, encoding), errors)
    return codecs.charmap_decode(body, "replace", _characters(encoding))[0]


@cache
def _characters(encoding: str) -> str:
    """The 256 characters of a single-byte encoding; U+FFFE, which charmap_decode takes for "undefined", in the gaps."""
    if encoding == "x-user-defined":
        return "".join(chr(byte if byte < 0x80 else 0xF700 + byte) for byte in range(256))
    codec = _PYTHON_CODECS.get(encoding, encoding)
    return "".join(_character(byte, encoding, codec) for byte in range(256))


def _character(byte: int, encoding: str, codec: str) -> str:
    if (other := _OTHER_CHARACTERS.get(encoding, {}).get(byte)) is not None:
        return other
    try:
        return bytes((byte,)).decode(codec)
    except UnicodeDecodeError:
        return chr(byte) if byte < 0xA0 else "\ufffe"


def _decode_euc_jp(body: bytes) -> str:
    text = body.decode("euc_jp", "crawler.jis")
    for standard, full_width in _EUC_JP_SIGNS:
        text = text.replace(standard, full_width)
    return text


def _fill_euro(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return ("€" if error.object[error.start] == 0x80 else REPLACEMENT), error.start + 1


def _fill_jis(error: UnicodeError) -> tuple[str, int]:
    """Decodes a two-byte sequence that Python's EUC-JP lacks by way of Microsoft's Shift_JIS, which has it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and min(pair) >= 0xA1 and max(pair) <= 0xFE:
        try:
            return _shifted(pair[0] - 0xA1, pair[1] - 0xA1).decode("cp932"), error.start + 2
        except UnicodeDecodeError:
            return REPLACEMENT, error.start + 2
    return REPLACEMENT, error.start + 1


def _shifted(row: int, cell: int) -> bytes:
    """Shift_JIS puts two rows of 94 cells under one lead byte and skips 0x7F."""
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + (0x9F if row % 2 else 0x40)
    return bytes((lead, trail + (1 if not row % 2 and trail >= 0x7F else 0)))


codecs.register_error("crawler.euro", _fill_euro)
codecs.register_error("crawler.jis", _fill_jis)
