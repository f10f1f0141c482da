"""When a URL is due again: after success by its policy's frequency, after failure by its growing backoff."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

LONGEST_BACKOFF = 8  # times retry_backoff_minutes: 1, 2, 4, 8, and 8 from then on


class Rhythm(Protocol):
    frequency_hours: int
    retry_backoff_minutes: int


def next_due(policy: Rhythm, now: datetime, failure_streak: int) -> datetime:
    """`failure_streak`: how often in a row it failed for good, this time included."""
    if not failure_streak:
        return now + timedelta(hours=policy.frequency_hours)
    factor = min(2 ** min(failure_streak - 1, 10), LONGEST_BACKOFF)
    return now + timedelta(minutes=policy.retry_backoff_minutes * factor)
