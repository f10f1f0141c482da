"""`/api/crawl`: bots pull jobs, keep their locks, give jobs back and submit what they found."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

from django.db import connection
from django.http import HttpRequest, HttpResponse
from ninja import Router

from crawler.bots import actions, rendering
from crawler.bots.answers import Finished, Pull, Submission
from crawler.bots.description import described
from crawler.bots.gate import Asked, View, for_bots
from crawler.bots.reading import checked
from crawler.bots.schemas import (
    LONGEST_WAIT_SECONDS,
    BatchIn,
    BatchOut,
    DoneOut,
    HeartbeatOut,
    JobsIn,
    NotDoneOut,
    PullIn,
    PullOut,
    ReleaseOut,
    ResultIn,
    SubmitIn,
)
from crawler.bots.waiting import WAITING
from crawler.foundation.errors import Problem

router = Router(tags=["bots"])
VIEWS: dict[str, View] = {}  # by their paths below /api/crawl


@for_bots
def pull(asked: Asked) -> HttpResponse:
    wanted = asked.read(PullIn)
    got = actions.pull_jobs(asked.credentials, wanted.max_jobs, wanted.domain)
    seconds = min(wanted.wait_seconds, LONGEST_WAIT_SECONDS)
    if not got.jobs and seconds and asked.may_wait:
        got = wait_for_jobs(asked, wanted, seconds)
    return rendering.success(rendering.pulled(got))


def wait_for_jobs(asked: Asked, wanted: PullIn, seconds: float) -> Pull:
    """Answers at once when too many wait already."""
    ends_at = time.monotonic() + seconds
    with WAITING.place() as admitted:
        while True:
            left = ends_at - time.monotonic()
            if admitted and left > 0:
                if not connection.in_atomic_block:
                    connection.close()  # back to the pool while we wait
                WAITING.until_woken(left)
            got = actions.pull_jobs(asked.credentials, wanted.max_jobs, wanted.domain)
            if got.jobs or not admitted or WAITING.is_over or time.monotonic() >= ends_at:
                return got


@for_bots
def submit(asked: Asked) -> HttpResponse:
    sent = submission(asked.read(SubmitIn))
    (outcome,) = actions.submit_results(asked.credentials, [sent])
    if isinstance(outcome, Problem):
        note_late(asked, sent.job_id, outcome)
        raise outcome
    data, status = rendering.finished(outcome, sent)
    return rendering.success(data, status)


@for_bots
def submit_batch(asked: Asked) -> HttpResponse:
    sent = [read_one(one) for one in asked.read(BatchIn).results]
    good = [one for one in sent if isinstance(one, Submission)]
    outcomes = iter(actions.submit_results(asked.credentials, good))
    lines, accepted = [], 0
    for one, raw in zip(sent, asked.body["results"], strict=True):
        outcome = next(outcomes) if isinstance(one, Submission) else one
        if isinstance(outcome, Finished) and isinstance(one, Submission):
            accepted += 1
            lines.append(rendering.accepted_in_batch(outcome, one))
        elif isinstance(outcome, Problem):
            lines.append(rendering.refused_in_batch(raw.get("job_id"), outcome))
            if isinstance(one, Submission):
                note_late(asked, one.job_id, outcome)
    return rendering.success(rendering.of_batch(lines, accepted))


def read_one(raw: dict[str, Any]) -> Submission | Problem:
    """One wrong result does not spoil the others."""
    try:
        return submission(checked(ResultIn, raw))
    except Problem as problem:
        return problem


def submission(sent: ResultIn) -> Submission:
    return Submission(
        job_id=sent.job_id,
        success=sent.success,
        fence=sent.fence,
        price=sent.price,
        currency=sent.currency or "",
        title=sent.title or "",
        in_stock=True if sent.in_stock is None else sent.in_stock,
        parsed_data=sent.parsed_data or "{}",
        raw_html=sent.raw_html,
        error_msg=sent.error_msg or "",
    )


def note_late(asked: Asked, job_id: UUID, problem: Problem) -> None:
    if problem.code == "lock_expired":
        asked.late.append(job_id)


@for_bots
def heartbeat(asked: Asked) -> HttpResponse:
    job_ids = asked.read(JobsIn).job_ids
    return rendering.success(rendering.extended(actions.extend_locks(asked.credentials, job_ids), job_ids))


@for_bots
def release(asked: Asked) -> HttpResponse:
    job_ids = asked.read(JobsIn).job_ids
    return rendering.success(rendering.released(actions.release_jobs(asked.credentials, job_ids), job_ids))


def add(path: str, view: View, summary: str, takes: type, gives: dict[int, type]) -> None:
    """With a slash at the end, as documented, and without."""

    def with_slash(request: HttpRequest) -> HttpResponse:
        return view(request)

    def without_slash(request: HttpRequest) -> HttpResponse:
        return view(request)

    VIEWS[f"{path}/"] = VIEWS[path] = view
    name = path.strip("/").replace("/", "_")
    extra = described(takes, gives)
    router.post(f"{path}/", summary=summary, operation_id=name, openapi_extra=extra)(with_slash)
    router.post(path, include_in_schema=False, operation_id=f"{name}_plain")(without_slash)


add("/pull", pull, "Lock pending jobs", PullIn, {200: PullOut})
add("/submit", submit, "Say what became of a job", SubmitIn, {201: DoneOut, 200: NotDoneOut})
add("/submit/batch", submit_batch, "Say what became of up to 500 jobs", BatchIn, {200: BatchOut})
add("/heartbeat", heartbeat, "Give locks their whole time again", JobsIn, {200: HeartbeatOut})
add("/release", release, "Give jobs back unharmed", JobsIn, {200: ReleaseOut})
