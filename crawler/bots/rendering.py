"""Answers as JSON text. Prices are written digit by digit, so nothing goes through a float."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse

from crawler.bots.answers import Extended, Finished, Pull, Pulled, Submission
from crawler.bots.exact import as_number
from crawler.bots.states import JobState
from crawler.foundation.errors import Family, Problem, render

RETRY, EXHAUSTED = "Job marked for retry", "Retries exhausted"


def success(data: str, status: int = 200) -> HttpResponse:
    text = f'{{"success": true, "data": {data}}}'
    return HttpResponse(text, content_type="application/json", status=status)


def iso(moment: datetime) -> str:
    """To the second, downwards: a lock never ends before it says."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def pulled(pull: Pull) -> str:
    jobs = [_job(job) for job in pull.jobs]
    return json.dumps({"jobs": jobs, "count": len(jobs), "skipped": pull.skipped})


def _job(job: Pulled) -> dict[str, Any]:
    return job._asdict() | {"job_id": str(job.job_id), "locked_until": iso(job.locked_until)}


def finished(one: Finished, sent: Submission) -> tuple[str, int]:
    """The answer's data and its status code."""
    if one.status == JobState.DONE:
        return _done(one, sent), 201
    about = {"job_id": str(one.job_id), "status": one.status}
    attempts = {"retry_count": one.retry_count, "max_retries": one.max_retries}
    if one.status == JobState.PENDING:
        return json.dumps(about | attempts | {"message": RETRY}), 200
    return json.dumps(about | attempts | {"error": sent.error_msg, "message": EXHAUSTED}), 200


def _done(one: Finished, sent: Submission) -> str:
    due = f'"{iso(one.next_due_at)}"' if one.next_due_at else "null"
    price = as_number(sent.price) if sent.price is not None else "null"
    return (
        f'{{"result_id": "{one.result_id}", "job_id": "{one.job_id}", "status": "done", "price": {price},'
        f' "currency": "{sent.currency}", "policy_next_run": {due}}}'
    )


def of_batch(answers: Iterable[str], accepted: int) -> str:
    lines = list(answers)
    return f'{{"results": [{", ".join(lines)}], "count": {len(lines)}, "accepted": {accepted}}}'


def accepted_in_batch(one: Finished, sent: Submission) -> str:
    data, status = finished(one, sent)
    return f'{{"job_id": "{one.job_id}", "status_code": {status}, "success": true, "data": {data}}}'


def refused_in_batch(job_id: object, problem: Problem) -> str:
    body = json.loads(render(problem, Family.BOTS).content)
    return json.dumps({"job_id": job_id if isinstance(job_id, str) else None, "status_code": problem.status} | body)


def extended(locks: Sequence[Extended], asked: Sequence[UUID]) -> str:
    kept = {lock.job_id for lock in locks}
    return json.dumps(
        {
            "extended": [{"job_id": str(lock.job_id), "locked_until": iso(lock.locked_until)} for lock in locks],
            "lost": [str(job_id) for job_id in asked if job_id not in kept],
        }
    )


def released(given_back: Sequence[UUID], asked: Sequence[UUID]) -> str:
    known = set(given_back)
    return json.dumps(
        {
            "released": [str(job_id) for job_id in given_back],
            "lost": [str(job_id) for job_id in asked if job_id not in known],
        }
    )
