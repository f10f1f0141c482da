"""Logging in with a password, through whichever form: counted, slowed down, and failures written to the audit log.

Counted before the password is looked at, so that guesses made at once do not slip through, and taken back when it
was right. adr/0017 says who is counted by what.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from crawler.accounts import audit, limits
from crawler.accounts.actors import SYSTEM
from crawler.accounts.addresses import address_of, address_subject, place_of
from crawler.accounts.devices import known_device
from crawler.accounts.models import User

Count = tuple[str, str]  # subject, kind of limit
# What `LoginGate` reads when the answer is made.
REFUSED, PASSED = "login_refused", "login_passed"


class TooManyFailures(ValidationError):
    """A form shows its message; `seconds` is how long to wait."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"Too many failed logins. Try again in {in_words(self.seconds)}.", code="too_many_failures")


def in_words(seconds: int) -> str:
    if seconds < 100:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    return f"{math.ceil(seconds / 60)} minutes"


class PasswordLogin(ModelBackend):
    """Django's own check, behind the counts. Unknown names cost the same time as known ones."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **rest: Any
    ) -> User | None:
        if username is None or password is None:
            return None
        counts = counts_of(request, username)
        count_attempt(request, username, counts)
        user: User | None = super().authenticate(request, username, password, **rest)
        if user is None:
            record_failure(request, username)
        else:
            take_back(counts)
            mark(request, PASSED, username)
        return user


def counts_of(request: HttpRequest | None, username: str) -> list[Count]:
    """The narrowest first. A known device has a count of its own, out of strangers' reach."""
    if device := known_device(request, username):
        return [(f"device:{device}", limits.LOGIN_DEVICE)]
    account = hashlib.sha256(username.encode("utf-8", "replace")).hexdigest()[:32]
    return [
        (f"{account}@{place_of(request)}", limits.LOGIN_PAIR),
        (address_subject(request), limits.LOGIN_ADDRESS),
        (f"account:{account}", limits.LOGIN_ACCOUNT),
    ]


def count_attempt(request: HttpRequest | None, username: str, counts: list[Count]) -> None:
    """Raises TooManyFailures. What a narrow limit stops does not count for the wider ones."""
    for subject, kind in counts:
        usage = limits.count(subject, kind)
        if usage and usage.exceeded:
            refusal = TooManyFailures(usage.seconds_left)
            if usage.used == usage.limit + 1:
                record_failure(request, username, action="throttled logins of")
            mark(request, REFUSED, refusal)
            raise refusal


def take_back(counts: list[Count]) -> None:
    """The password was right: this place and name start afresh; the others lose only this one."""
    (subject, kind), *wider = counts
    limits.forget(subject, kind)
    for subject, kind in wider:
        limits.give_back(subject, kind)


def record_failure(request: HttpRequest | None, username: str, action: str = "refused login of") -> None:
    """A name that nobody has is not written down: people type passwords into the wrong field."""
    found = User.objects.filter(username=username).first()
    target = found or User(id=None, username="(unknown name)")
    reason = "" if found is None or found.is_active else "switched off"
    audit.record(SYSTEM, action, target, reason=reason, after={"address": address_of(request)})


def mark(request: HttpRequest | None, name: str, value: object) -> None:
    if request is not None:
        setattr(request, name, value)
