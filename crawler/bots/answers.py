"""What the bots' verbs take and give. Problems that are answers have the document's own codes."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from crawler.foundation.errors import Forbidden, InvalidInput, NotFound, Problem, Unauthenticated


class Credentials(NamedTuple):
    """What a request shows. Without `bot_id` the token alone says who it is."""

    bot_id: str | None
    digest: str


class Pulled(NamedTuple):
    job_id: UUID
    url: str
    priority: int
    max_retries: int
    timeout_seconds: int
    retry_count: int
    locked_until: datetime
    fence: int


class Pull(NamedTuple):
    jobs: list[Pulled]
    skipped: int  # jobs of the kind asked for that other bots hold, up to 1,000


class Submission(NamedTuple):
    job_id: UUID
    success: bool
    fence: int | None = None
    price: Decimal | None = None
    currency: str = ""
    title: str = ""
    in_stock: bool = True
    parsed_data: str = "{}"  # JSON
    raw_html: str | None = None
    error_msg: str = ""


class Finished(NamedTuple):
    """What became of a job: done with its result, pending for another attempt, or failed."""

    job_id: UUID
    status: str
    retry_count: int
    max_retries: int
    result_id: UUID | None
    next_due_at: datetime | None


class Extended(NamedTuple):
    job_id: UUID
    locked_until: datetime


def wrong_credentials() -> Unauthenticated:
    return Unauthenticated("Unknown bot_id or wrong api_token")


def bot_disabled(bot_id: str) -> Forbidden:
    return Forbidden(f"Bot {bot_id} is disabled")


def job_not_found(job_id: UUID) -> Problem:
    return NotFound(f"Job {job_id} not found", code="job_not_found")


def job_not_locked(job_id: UUID, status: str) -> Problem:
    return InvalidInput(f"Job {job_id} is {status}, not locked", code="job_not_locked")


def not_assigned(message: str) -> Problem:
    return Forbidden(message, code="not_assigned")


def lock_expired() -> Problem:
    return InvalidInput("Lock TTL exceeded", code="lock_expired")
