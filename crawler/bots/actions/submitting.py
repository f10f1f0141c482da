"""A bot says what became of its jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from crawler.bots import answers, html, queries, waiting
from crawler.bots.actions import finish_postgresql, finish_sqlite
from crawler.bots.actions.together import Together
from crawler.bots.answers import Credentials, Finished, Submission, bot_disabled, wrong_credentials
from crawler.bots.states import JobState
from crawler.foundation.errors import Problem
from crawler.foundation.ids import new_id

FINISH = {"postgresql": finish_postgresql.finish, "sqlite": finish_sqlite.finish}
TOGETHER = {vendor: Together(finish) for vendor, finish in FINISH.items()}
Outcome = Finished | Problem
Locks = Mapping[UUID, queries.Lock]


def submit_results(credentials: Credentials, submissions: Sequence[Submission]) -> list[Outcome]:
    """One outcome for each submission, in order: what became of the job, or why nothing did.

    Nothing is written for a job that is not locked by this bot, whose fence is another, or whose lock ran out. What
    was written is safe when this returns, `raw_html` included. A job named twice is finished by the first that shows no
    wrong fence. A lock that ran out stays for the caller to end (`expire_overdue`), as an error changes nothing here.
    """
    if not submissions:
        queries.authenticated(credentials)
        return []
    first = {one.job_id: number for number, one in reversed(list(enumerate(submissions)))}
    done = _finish(credentials, submissions, first.values())
    refused = [one.job_id for one in submissions if one.job_id not in done.by_job]
    locks = queries.locks_of(refused) if refused else {}
    if others := _with_the_right_fence(done.bot_id, submissions, locks, first):
        done.add(_finish(credentials, submissions, others))
    if any(one.status == JobState.PENDING for one in done.by_job.values()):
        waiting.wake()
    return [done.outcome(number, one, locks) for number, one in enumerate(submissions)]


def _with_the_right_fence(
    bot_id: str, submissions: Sequence[Submission], locks: Locks, first: Mapping[UUID, int]
) -> list[int]:
    """Of jobs whose first answer had a wrong fence, the first that has not."""
    found: dict[UUID, int] = {}
    for number, one in enumerate(submissions):
        lock, tried = locks.get(one.job_id), submissions[first[one.job_id]].fence
        mine = lock is not None and lock.locked_by == bot_id
        if lock and mine and tried not in (None, lock.fence) and one.fence in (None, lock.fence):
            found.setdefault(one.job_id, number)
    return list(found.values())


class _Done:
    """What was finished, and by which of the submissions."""

    def __init__(self, rows: list[tuple[Any, ...]], numbers: Mapping[UUID, int]) -> None:
        bot_id, enabled = rows[0][:2]
        if bot_id is None:
            raise wrong_credentials()
        if not enabled:
            raise bot_disabled(bot_id)
        self.bot_id: str = bot_id
        self.by_job = {row[2]: Finished(*row[2:]) for row in rows if row[2] is not None}
        self.by_number = {numbers[job_id]: one for job_id, one in self.by_job.items()}

    def add(self, more: _Done) -> None:
        self.by_job |= more.by_job
        self.by_number |= more.by_number

    def outcome(self, number: int, one: Submission, locks: Locks) -> Outcome:
        if number in self.by_number:
            return self.by_number[number]
        lock = locks.get(one.job_id)
        if one.job_id in self.by_job and (lock is None or one.fence in (None, lock.fence)):
            return answers.job_not_locked(one.job_id, self.by_job[one.job_id].status)
        return _reason(self.bot_id, one, lock)


def _finish(credentials: Credentials, submissions: Sequence[Submission], numbers: Iterable[int]) -> _Done:
    """These of the submissions, of different jobs."""
    chosen = {submissions[number].job_id: number for number in numbers}
    paths = _archive(credentials, [submissions[number] for number in chosen.values()])
    rows = [_row(credentials, submissions[number], paths.get(job_id)) for job_id, number in chosen.items()]
    if connection.in_atomic_block:
        return _Done(FINISH[connection.vendor](rows), chosen)
    return _Done(TOGETHER[connection.vendor].write(frozenset(chosen), rows), chosen)


def _row(credentials: Credentials, one: Submission, storage_path: str | None) -> tuple[Any, ...]:
    """In the order of finish_postgresql.COLUMNS."""
    found = (one.price, one.currency, one.title, one.in_stock, one.parsed_data, storage_path)
    return (credentials.digest, credentials.bot_id, new_id(), one.job_id, one.fence, one.success, *found, one.error_msg)


def _archive(credentials: Credentials, submissions: Sequence[Submission]) -> Mapping[UUID, str]:
    """The bytes of `raw_html` rest before the rows that point to them, and only for locks that stand."""
    pages = {one.job_id: one.raw_html for one in submissions if one.success and one.raw_html}
    if not pages:
        return {}
    bot_id, urls = queries.held_urls(credentials, list(pages))
    return html.keep(bot_id, {job_id: (url, pages[job_id]) for job_id, url in urls.items()})


def _reason(bot_id: str, one: Submission, lock: queries.Lock | None) -> Problem:
    """Why nothing was done."""
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
