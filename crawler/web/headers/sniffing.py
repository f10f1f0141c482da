"""What kind of file bytes are, whatever the server says: the WHATWG MIME Sniffing standard.

Only the first 1445 bytes are looked at. Servers often send the wrong Content-Type or none; a crawler that sniffs like a
browser parses what browsers show as pages, and nothing else.
"""

from __future__ import annotations

import re

from crawler.web.headers.media_types import MediaType, combined_content_type

HEADER_BYTES = 1445

_TAGS = rb"!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--"
_HTML = re.compile(rb"[\t\n\x0c\r ]*<(?:" + _TAGS + rb")[ >]", re.IGNORECASE)
_XML = re.compile(rb"[\t\n\x0c\r ]*<\?xml")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_UNKNOWN_TYPES = frozenset(("unknown/unknown", "application/unknown", "*/*"))
# Old Apache servers stamp these on every file they do not know.
_APACHE_DEFAULTS = frozenset(
    ("text/plain", "text/plain; charset=ISO-8859-1", "text/plain; charset=iso-8859-1", "text/plain; charset=UTF-8")
)
_MARKS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")

# (pattern of the first bytes, media type); a dot is any byte.
_IMAGES = (
    (re.compile(rb"\x00\x00[\x01\x02]\x00"), "image/x-icon"),
    (re.compile(rb"BM"), "image/bmp"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBPVP", re.DOTALL), "image/webp"),
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
)
_AUDIO_AND_VIDEO = (
    (re.compile(rb"FORM.{4}AIFF", re.DOTALL), "audio/aiff"),
    (re.compile(rb"ID3"), "audio/mpeg"),
    (re.compile(rb"OggS\x00"), "application/ogg"),
    (re.compile(rb"MThd\x00\x00\x00\x06"), "audio/midi"),
    (re.compile(rb"RIFF.{4}AVI ", re.DOTALL), "video/avi"),
    (re.compile(rb"RIFF.{4}WAVE", re.DOTALL), "audio/wave"),
)
_ARCHIVES = (
    (re.compile(rb"\x1f\x8b\x08"), "application/x-gzip"),
    (re.compile(rb"PK\x03\x04"), "application/zip"),
    (re.compile(rb"Rar!\x1a\x07\x00"), "application/x-rar-compressed"),
)
_TEXT_WITH_MARK = re.compile(rb"\xfe\xff..|\xff\xfe..|\xef\xbb\xbf.", re.DOTALL)

_MP3_KILOBITS = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_MP3_KILOBITS_LOW = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_MP3_HERTZ = (44100, 48000, 32000)

_Patterns = tuple[tuple[re.Pattern[bytes], str], ...]


def sniff(body: bytes, content_type: str | None = None, *, nosniff: bool = False) -> str:
    """The media type (``type/subtype``) to treat a body as.

    ``content_type`` is the header as sent; ``nosniff`` is whether ``X-Content-Type-Options: nosniff`` came with it.
    """
    head = body[:HEADER_BYTES]
    supplied = combined_content_type(content_type) if content_type else None
    if supplied is None or supplied.essence in _UNKNOWN_TYPES:
        return _identify(head, scriptable=not nosniff)
    if nosniff or supplied.is_xml or supplied.is_html:
        return supplied.essence
    if content_type in _APACHE_DEFAULTS:
        return _text_or_binary(head)
    return _more_exactly(head, supplied) or supplied.essence


def _more_exactly(head: bytes, supplied: MediaType) -> str | None:
    if supplied.type == "image":
        return _first_match(_IMAGES, head)
    if supplied.type in ("audio", "video") or supplied.essence == "application/ogg":
        return _audio_or_video(head)
    return None


def _identify(head: bytes, *, scriptable: bool) -> str:
    if scriptable and (found := _scriptable(head)):
        return found
    if head.startswith(b"%!PS-Adobe-"):
        return "application/postscript"
    if _TEXT_WITH_MARK.match(head):
        return "text/plain"
    found = _first_match(_IMAGES, head) or _audio_or_video(head) or _first_match(_ARCHIVES, head)
    return found or _plain_unless_binary(head)


def _scriptable(head: bytes) -> str | None:
    if _HTML.match(head):
        return "text/html"
    if _XML.match(head):
        return "text/xml"
    return "application/pdf" if head.startswith(b"%PDF-") else None


def _text_or_binary(head: bytes) -> str:
    return "text/plain" if head.startswith(_MARKS) else _plain_unless_binary(head)


def _plain_unless_binary(head: bytes) -> str:
    return "application/octet-stream" if _BINARY.search(head) else "text/plain"


def _first_match(patterns: _Patterns, head: bytes) -> str | None:
    return next((media_type for pattern, media_type in patterns if pattern.match(head)), None)


def _audio_or_video(head: bytes) -> str | None:
    if found := _first_match(_AUDIO_AND_VIDEO, head):
        return found
    if _is_mp4(head):
        return "video/mp4"
    if _is_webm(head):
        return "video/webm"
    return "audio/mpeg" if _is_mp3(head) else None


def _is_mp4(head: bytes) -> bool:
    """An ISO media file of which some brand begins with "mp4"."""
    size = int.from_bytes(head[:4], "big")
    if len(head) < 12 or len(head) < size or size % 4 or head[4:8] != b"ftyp":
        return False
    return head[8:11] == b"mp4" or any(head[at : at + 3] == b"mp4" for at in range(16, size, 4))


def _is_webm(head: bytes) -> bool:
    """An EBML file whose DocType, within the first 38 bytes, is "webm"."""
    if not head.startswith(b"\x1a\x45\xdf\xa3"):
        return False
    at = head.find(b"\x42\x82", 4, 39)
    if at < 0 or at + 2 >= len(head):
        return False
    length_bytes = min(9 - head[at + 2].bit_length(), 8)  # an EBML number says its own length by its leading zeros
    return re.match(rb"\x00*webm", head[at + 2 + length_bytes :]) is not None


def _is_mp3(head: bytes) -> bool:
    """Two MPEG layer 3 frame headers, the second where the first says that its frame ends."""
    size = _mp3_frame_bytes(head, 0)
    return size is not None and size >= 4 and _mp3_frame_bytes(head, size) is not None


def _mp3_frame_bytes(head: bytes, at: int) -> int | None:
    """The length of the frame whose header is here, None where there is no such header."""
    frame = head[at : at + 4]
    if len(frame) < 4 or frame[0] != 0xFF or frame[1] & 0xE0 != 0xE0:
        return None
    layer, bit_rate, sample_rate = frame[1] >> 1 & 3, frame[2] >> 4, frame[2] >> 2 & 3
    if layer != 1 or bit_rate == 15 or sample_rate == 3:  # 1 stands for layer 3
        return None
    is_version_1 = bool(frame[1] & 8)
    kilobits = (_MP3_KILOBITS if is_version_1 else _MP3_KILOBITS_LOW)[bit_rate]
    scale = 144 if is_version_1 else 72
    padding = frame[2] >> 1 & 1
    return kilobits * 1000 * scale // _MP3_HERTZ[sample_rate] + padding
