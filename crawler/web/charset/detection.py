"""Guesses the encoding of bytes that declare none. Reads a bounded sample, so the cost does not grow with the page.

UTF-8 is tried first, because text that is valid UTF-8 is UTF-8. Then chardetng, the detector of Firefox, which answers
in the names of the Encoding Standard and uses the country of the site where languages share their bytes.
"""

from __future__ import annotations

import codecs
import re

from chardetng_py import EncodingDetector  # type: ignore[import-untyped] # ships a stub but no py.typed

from crawler.web.encoding_labels import encoding_from_label

SAMPLE_BYTES = 16 * 1024
FALLBACK = "windows-1252"
_AROUND_BYTES = 2 * 1024

_LANGUAGE = re.compile(rb"<html[^>]{0,500}?\blang\s{0,9}=\s{0,9}[\"']?([a-z]{2})\b", re.IGNORECASE)
# Languages whose country writes its domain with other letters.
_TLD_BY_LANGUAGE = {
    "ar": "sa", "cs": "cz", "da": "dk", "el": "gr", "en": "com", "et": "ee", "fa": "ir", "he": "il", "ja": "jp",
    "ko": "kr", "sl": "si", "sr": "rs", "sv": "se", "uk": "ua", "vi": "vn", "zh": "cn",
}  # fmt: skip


def detect(body: bytes, tld: str | None = None) -> str:
    """The likely encoding. ``tld`` is the last label of the host (``hu``); without it the page's ``lang`` serves.

    Plain ASCII gives the fallback, windows-1252, as in browsers: every ASCII page reads the same in both.
    """
    sample = _sample(body)
    if sample.isascii() and b"\x1b" not in sample:
        return _wide(sample) or FALLBACK
    if _is_mostly_utf8(sample):
        return "utf-8"
    return _wide(sample) or _guess(sample, tld)


def _sample(body: bytes) -> bytes:
    """The beginning, or the part around the first byte that is not ASCII when the beginning is all ASCII."""
    start = body[:SAMPLE_BYTES]
    if len(body) <= SAMPLE_BYTES or not start.isascii():
        return start
    try:
        body.decode("ascii")
    except UnicodeDecodeError as error:
        return body[error.start : error.start + SAMPLE_BYTES]
    return start


def _is_mostly_utf8(sample: bytes) -> bool:
    """True for UTF-8 with at most one broken character to ten sound ones: a stray byte from a careless template.

    Only the surroundings of the first broken one are counted, because replacing thousands of them takes time.
    """
    try:
        text = codecs.utf_8_decode(sample, "strict", False)[0]  # False: the sample may end inside a character
    except UnicodeDecodeError as error:
        around = sample[max(error.start - _AROUND_BYTES, 0) : error.start + _AROUND_BYTES]
        text = codecs.utf_8_decode(around, "replace", False)[0]
    broken = text.count("\ufffd")
    sound = len(text) - len(text.encode("ascii", "ignore")) - broken
    return sound > 0 and broken * 10 <= sound


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a byte order mark shows itself by its zeros, as long as most of the page is markup."""
    zeros_first, zeros_second = sample[::2].count(0), sample[1::2].count(0)
    enough = len(sample) * 0.3
    if zeros_second > enough and zeros_second > zeros_first * 9:
        return "utf-16le"
    return "utf-16be" if zeros_first > enough and zeros_first > zeros_second * 9 else None


def _guess(sample: bytes, tld: str | None) -> str:
    detector = EncodingDetector()
    detector.feed(sample, last=len(sample) < SAMPLE_BYTES)
    name = str(detector.guess(tld=_country_hint(sample, tld), allow_utf8=False))
    return "windows-874" if name == "cp874" else encoding_from_label(name) or FALLBACK  # the one name that is Python's


def _country_hint(sample: bytes, tld: str | None) -> bytes | None:
    if tld is None and (language := _LANGUAGE.search(sample)):
        code = language[1].decode("ascii").lower()
        tld = _TLD_BY_LANGUAGE.get(code, code)
    # The detector aborts on anything that is not a label in lower-case ASCII.
    return tld.encode() if tld and re.fullmatch("[a-z0-9-]{1,63}", tld) else None
