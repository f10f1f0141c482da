"""Where a page ended, as an opaque text. What comes back may be anything."""

from __future__ import annotations

import base64
import json

from crawler.foundation.errors import InvalidInput


def write_cursor(*parts: str) -> str:
    text = json.dumps(parts, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str, count: int) -> list[str]:
    """The texts that it was made of. Raises InvalidInput."""
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        raise wrong_cursor() from None
    if not isinstance(parts, list) or len(parts) != count or not all(_is_text(part) for part in parts):
        raise wrong_cursor()
    return parts


def wrong_cursor() -> InvalidInput:
    return InvalidInput(
        field="cursor", reason="Send the next_cursor of the page before, with the same sort or interval"
    )


def _is_text(part: object) -> bool:
    return isinstance(part, str) and "\0" not in part and part.isprintable()
