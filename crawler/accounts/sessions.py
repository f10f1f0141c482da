"""Who is logged in with a browser. A new password ends sessions by itself: Django signs them with its hash."""

from __future__ import annotations

from django.contrib.auth import SESSION_KEY
from django.db.models.functions import Now

from crawler.accounts.models import User


def end_sessions(user: User) -> int:
    """Log the user out everywhere, for good: switching the user on again does not bring a session back."""
    from django.contrib.sessions.models import Session  # `crawler crawl` runs without

    theirs = [
        session.pk
        for session in Session.objects.filter(expire_date__gt=Now()).iterator()
        if session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]
    ended, _ = Session.objects.filter(pk__in=theirs).delete()
    return ended
