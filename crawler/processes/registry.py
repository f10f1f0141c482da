"""Signing in and out. A process that stops beating is lost, whatever its machine says."""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from crawler import __version__
from crawler.foundation.clock import database_now
from crawler.processes.models import Process

BEAT_SECONDS = 10
LOST_AFTER = timedelta(seconds=3 * BEAT_SECONDS)
FORGOTTEN_AFTER = timedelta(days=1)


def sign_in(kind: str) -> UUID:
    now = database_now()
    row = Process(kind=kind, host=socket.gethostname(), pid=os.getpid(), version=__version__)
    row.started_at = row.last_seen_at = now
    row.save(force_insert=True)
    return row.id


def beat(process_id: UUID) -> None:
    Process.objects.filter(pk=process_id).update(last_seen_at=Now())


def sign_out(process_id: UUID) -> None:
    Process.objects.filter(pk=process_id).delete()


def listed() -> QuerySet[Process]:
    """Every process that did not sign out; `alive` tells whether it was seen lately."""
    return Process.objects.annotate(alive=Q(last_seen_at__gt=Now() - LOST_AFTER))


def forget_lost() -> int:
    deleted, _ = Process.objects.filter(last_seen_at__lt=Now() - FORGOTTEN_AFTER).delete()
    return deleted
