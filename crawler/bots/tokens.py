"""Bot tokens: `bot_<bot_id>_<random>`, shown once, kept as a hash."""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple


class NewToken(NamedTuple):
    text: str
    digest: str


def generate(bot_id: str) -> NewToken:
    text = f"bot_{bot_id}_{secrets.token_urlsafe(32)}"
    return NewToken(text, digest(text))


def digest(text: str) -> str:
    """SHA-256 is enough: there are 256 random bits in it, nothing to guess faster."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
