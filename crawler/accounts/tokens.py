"""API tokens as text: `cs_<prefix>_<secret>`. The prefix finds the row, the hash proves the secret."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from crawler.accounts.models import ApiToken

FORM = re.compile(r"(cs_[0-9a-z]{8})_[A-Za-z0-9_-]{20,100}", re.ASCII)
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
# Writing the time of every request would cost a write each; a minute is near enough.
LAST_USED_GRAIN = timedelta(minutes=1)


@dataclass(frozen=True)
class NewToken:
    prefix: str
    text: str
    digest: str


def generate() -> NewToken:
    prefix = "cs_" + "".join(secrets.choice(ALPHABET) for _ in range(8))
    text = f"{prefix}_{secrets.token_urlsafe(32)}"
    return NewToken(prefix, text, digest(text))


def digest(text: str) -> str:
    """SHA-256 is enough: the secret has 256 random bits, there is nothing to guess faster."""
    return hashlib.sha256(text.encode()).hexdigest()


def find(text: str) -> ApiToken | None:
    """The live token behind this text: known, neither revoked nor expired, its user active."""
    form = FORM.fullmatch(text)
    if not form:
        return None
    live = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=Now())) & Q(user__is_active=True)
    token = ApiToken.objects.select_related("user").filter(live, prefix=form[1]).first()
    stored = token.secret_hash if token else digest("")
    matches = hmac.compare_digest(stored, digest(text))
    return token if matches else None


def note_use(token: ApiToken) -> None:
    """Keep `last_used_at` within a minute of the truth."""
    known = token.last_used_at
    if known is None or timezone.now() - known > LAST_USED_GRAIN:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=Now())
