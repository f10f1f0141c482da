"""Keeping the bookkeeping of requests small."""

from django.contrib.sessions.models import Session
from django.db.models.functions import Now

from crawler.accounts import idempotency, limits
from crawler.foundation.periodic import periodic


@periodic("accounts.forget_old_answers", every_seconds=3600)
def forget_old_answers() -> str:
    return f"forgot {idempotency.purge()} stored answers older than a day"


@periodic("accounts.forget_old_counts", every_seconds=3600)
def forget_old_counts() -> str:
    return f"forgot {limits.purge()} request counts of past hours"


@periodic("accounts.end_old_sessions", every_seconds=24 * 3600)
def end_old_sessions() -> str:
    ended, _ = Session.objects.filter(expire_date__lt=Now()).delete()
    return f"ended {ended} sessions that had expired"
