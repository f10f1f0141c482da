"""Cuts a text into the words that a fingerprint is made of."""

from __future__ import annotations

import re

LONGEST_TEXT = 256 * 1024  # characters; the rest of a longer text is ignored

# Bytes of UTF-8: ASCII letters and digits stay (letters are lower-case already), everything beyond ASCII stays.
_SEPARATE = bytes(byte if byte >= 0x80 or chr(byte).isalnum() else 0x20 for byte in range(256))

# Blanks, dashes, quotes and punctuation beyond ASCII. Written out, because what \W means changes with Python's Unicode.
_PUNCTUATION = re.compile(
    "[\x80-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\ufe30-\ufe4f"
    "\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufeff\ufffd]+"
)
# Thai, Lao, Tibetan, Burmese, Khmer, kana and Han: written without blanks between words. Korean has blanks.
_UNSPACED_SCRIPTS = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{_UNSPACED_SCRIPTS}]")
_UNITS = re.compile(f"[{_UNSPACED_SCRIPTS}]|[^ {_UNSPACED_SCRIPTS}]+")


def words(text: str) -> list[bytes]:
    """The words of a text in UTF-8, in lower case, in order."""
    lowered = text[:LONGEST_TEXT].lower()
    if not lowered.isascii():
        lowered = _PUNCTUATION.sub(" ", lowered)
        if _UNSPACED.search(lowered):
            lowered = " ".join(_UNITS.findall(lowered))
    return lowered.encode("utf-8", "replace").translate(_SEPARATE).split()
