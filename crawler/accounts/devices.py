"""Browsers that somebody has logged in with before, known by a signed cookie for each user name.

The cookie opens nothing. It only keeps failures of strangers from shutting out the one who was here before
(adr/0017). It does not contain the name.
"""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse

KNOWN_SECONDS = 180 * 24 * 3600


def known_device(request: HttpRequest | None, username: str) -> str | None:
    """The device's own id, when this user has logged in with it."""
    signed = request.COOKIES.get(settings.DEVICE_COOKIE_NAME) if request else None
    if not signed:
        return None
    try:
        return _signer(username).unsign(signed, max_age=KNOWN_SECONDS)
    except BadSignature:
        return None


def remember_device(response: HttpResponse, username: str) -> None:
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        _signer(username).sign(secrets.token_urlsafe(12)),
        max_age=KNOWN_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _signer(username: str) -> TimestampSigner:
    return TimestampSigner(salt=f"crawler.accounts.device:{username}")
