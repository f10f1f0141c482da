"""A message's signature: HMAC-SHA256 with the webhook's secret over timestamp, a point, and the body."""

from __future__ import annotations

import hashlib
import hmac
import secrets

PREFIX = "whsec_"
SCHEME = "sha256="


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """What the header says. The timestamp is signed as well, so that an old message cannot be sent as a new one."""
    signed = f"{timestamp}.".encode() + body
    return SCHEME + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
