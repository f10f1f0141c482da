"""A bot says what became of its jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from crawler.bots import answers, html, queries, waiting
from crawler.bots.actions import finish_postgresql, finish_sqlite
from crawler.bots.answers import Credentials, Finished, Submission, bot_disabled, wrong_credentials
from crawler.bots.states import JobState
from crawler.foundation.errors import Problem
from crawler.foundation.ids import new_id

FINISH = {"postgresql": finish_postgresql.finish, "sqlite": finish_sqlite.finish}
Outcome = Finished | Problem


def submit_results(credentials: Credentials, submissions: Sequence[Submission]) -> list[Outcome]:
    """One outcome for each submission, in order: what became of the job, or why nothing did.

    Nothing is written for a job that is not locked by this bot, whose fence is another, or whose lock ran out. What
    was written is safe when this returns, `raw_html` included. A job named twice is finished by the first. A lock that
    ran out stays for the caller to end (`expire_overdue`), as an error changes nothing here.
    """
    paths = _archive(credentials, submissions)
    first = {one.job_id: one for one in reversed(submissions)}
    finished = _finish(credentials, [_row(one, paths.get(one.job_id)) for one in first.values()])
    reasons = _reasons(finished.bot_id, [one for one in first.values() if one.job_id not in finished.by_job])
    if any(one.status == JobState.PENDING for one in finished.by_job.values()):
        waiting.wake()
    return [
        finished.of(one.job_id) or reasons[one.job_id]
        if one is first[one.job_id]
        else answers.job_not_locked(one.job_id, "finished")
        for one in submissions
    ]


class _Done:
    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            raise wrong_credentials()
        self.bot_id, enabled = rows[0][:2]
        if not enabled:
            raise bot_disabled(self.bot_id)
        self.by_job = {row[2]: Finished(*row[2:]) for row in rows if row[2] is not None}

    def of(self, job_id: UUID) -> Finished | None:
        return self.by_job.get(job_id)


def _finish(credentials: Credentials, rows: list[tuple[Any, ...]]) -> _Done:
    return _Done(FINISH[connection.vendor](credentials.bot_id, credentials.digest, rows))


def _row(one: Submission, storage_path: str | None) -> tuple[Any, ...]:
    """In the order of finish_postgresql.COLUMNS."""
    found = (one.price, one.currency, one.title, one.in_stock, one.parsed_data, storage_path)
    return (new_id(), one.job_id, one.fence, one.success, *found, one.error_msg)


def _archive(credentials: Credentials, submissions: Sequence[Submission]) -> Mapping[UUID, str]:
    """The bytes of `raw_html` rest before the rows that point to them, and only for locks that stand."""
    pages = {one.job_id: one.raw_html for one in submissions if one.success and one.raw_html}
    if not pages:
        return {}
    bot_id, urls = queries.held_urls(credentials, list(pages))
    return html.keep(bot_id, {job_id: (url, pages[job_id]) for job_id, url in urls.items()})


def _reasons(bot_id: str, refused: Sequence[Submission]) -> dict[UUID, Problem]:
    """Why nothing was done."""
    if not refused:
        return {}
    locks = queries.locks_of([one.job_id for one in refused])
    return {one.job_id: _reason(bot_id, one, locks.get(one.job_id)) for one in refused}


def _reason(bot_id: str, one: Submission, lock: queries.Lock | None) -> Problem:
    if lock is None:
        return answers.job_not_found(one.job_id)
    if lock.status == JobState.EXPIRED and lock.last_locked_by == bot_id:
        return answers.lock_expired()
    if lock.status != JobState.LOCKED:
        return answers.job_not_locked(one.job_id, lock.status)
    if lock.locked_by != bot_id:
        return answers.not_assigned(f"Job locked by another bot, not {bot_id}")
    if one.fence not in (None, lock.fence):
        return answers.not_assigned(f"Job was pulled again since: its fence is {lock.fence}, not {one.fence}")
    return answers.lock_expired()
