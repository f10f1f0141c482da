"""Heartbeat, release, batches, long polls, and locks whose time is over."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from datetime import datetime, timedelta
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from crawler.accounts.actors import SYSTEM
from crawler.bots import actions, waiting
from crawler.bots.models import CrawlJob, CrawlResult, ProductURL
from tests.api.bots import Bot, make_jobs

pytestmark = pytest.mark.django_db


def pulled(bot: Bot, count: int, **policy: Any) -> list[str]:
    make_jobs(count, **policy)
    return [job["job_id"] for job in bot.pull(count)]


def age(job_ids: list[str], seconds: float) -> None:
    CrawlJob.objects.filter(pk__in=job_ids).update(locked_at=timezone.now() - timedelta(seconds=seconds))


def test_a_heartbeat_gives_locks_their_whole_time_again() -> None:
    bot = Bot()
    mine, late = pulled(bot, 2)
    age([mine], 500)
    age([late], 601)
    unknown = str(uuid4())
    answer = bot.post("heartbeat", {"job_ids": [mine, late, unknown]})
    assert answer.status_code == 200
    data = answer.json()["data"]
    assert data["lost"] == [late, unknown]
    (kept,) = data["extended"]
    assert kept["job_id"] == mine
    left = datetime.fromisoformat(kept["locked_until"]) - timezone.now()
    assert timedelta(seconds=595) < left < timedelta(seconds=603)
    age([mine], 900)
    assert bot.submit(mine).status_code == 201, "its extension outlives the time it began with"


def test_a_heartbeat_never_shortens_a_lock() -> None:
    bot = Bot()
    (job_id,) = pulled(bot, 1)
    job = actions.extend_lock(SYSTEM, CrawlJob.objects.get(), 3600)
    (kept,) = bot.post("heartbeat", {"job_ids": [job_id]}).json()["data"]["extended"]
    assert CrawlJob.objects.get().locked_until == job.locked_until
    assert kept["locked_until"] == job.locked_until.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_heartbeats_of_others_extend_nothing() -> None:
    bot = Bot()
    (mine,) = pulled(bot, 1)
    assert Bot("bot-002").post("heartbeat", {"job_ids": [mine]}).json()["data"] == {"extended": [], "lost": [mine]}


def test_an_extension_ends_with_its_lock() -> None:
    bot = Bot()
    (mine,) = pulled(bot, 1)
    age([mine], 500)
    bot.post("heartbeat", {"job_ids": [mine]})
    bot.post("release", {"job_ids": [mine]})
    (again,) = bot.pull()
    left = datetime.fromisoformat(again["locked_until"]) - timezone.now()
    assert left < timedelta(seconds=601)


def test_released_jobs_are_unharmed() -> None:
    bot, other = Bot(), Bot("bot-002")
    mine, kept = pulled(bot, 2)
    assert other.post("release", {"job_ids": [mine]}).json()["data"] == {"released": [], "lost": [mine]}
    answer = bot.post("release", {"job_ids": [mine]})
    assert answer.json() == {"success": True, "data": {"released": [mine], "lost": []}}
    (again,) = other.pull()
    assert (again["job_id"], again["retry_count"], again["fence"]) == (mine, 0, 2)
    assert bot.submit(mine).json()["error"] == "not_assigned"
    assert bot.submit(kept).status_code == 201


@pytest.mark.parametrize("path", ["heartbeat", "release"])
@pytest.mark.parametrize("job_ids", [[], ["x"], None, [str(uuid4())] * 501])
def test_wrong_lists_of_jobs(path: str, job_ids: object) -> None:
    answer = Bot().post(path, {"job_ids": job_ids})
    assert answer.status_code == 400
    assert next(iter(answer.json()["detail"])).startswith("job_ids")


def test_every_result_of_a_batch_is_answered_on_its_own() -> None:
    bot, other = Bot(), Bot("bot-002")
    make_jobs(6, max_retries=1)
    good, bad, late, twice, given_up = [job["job_id"] for job in bot.pull(5)]
    (foreign,) = [job["job_id"] for job in other.pull()]
    age([late], 601)
    found = {"success": True, "price": "12.30", "currency": "EUR"}
    unknown = str(uuid4())
    answer = bot.post(
        "submit/batch",
        {
            "results": [
                {"job_id": good, **found},
                {"job_id": bad, "success": True},
                {"job_id": late, **found},
                {"job_id": twice, **found},
                {"job_id": twice, **found},
                {"job_id": given_up, "success": False, "error_msg": "gone"},
                {"job_id": foreign, **found},
                {"job_id": unknown, **found},
                {"job_id": 7},
            ]
        },
    )
    assert answer.status_code == 200
    data = answer.json()["data"]
    assert (data["count"], data["accepted"]) == (9, 3)
    said = [(one["job_id"], one["status_code"], one.get("error")) for one in data["results"]]
    assert said == [
        (good, 201, None),
        (bad, 400, "validation_error"),
        (late, 400, "lock_expired"),
        (twice, 201, None),
        (twice, 400, "job_not_locked"),
        (given_up, 200, None),
        (foreign, 403, "not_assigned"),
        (unknown, 404, "job_not_found"),
        (None, 400, "validation_error"),
    ]
    assert data["results"][0]["data"]["price"] == 12.3
    assert data["results"][5]["data"]["status"] == "failed"
    assert CrawlResult.objects.count() == 2
    states = dict(CrawlJob.objects.values_list("pk", "status"))
    assert {str(key): state for key, state in states.items()} == {
        good: "done", bad: "locked", late: "expired", twice: "done", given_up: "failed", foreign: "locked",
    }  # fmt: skip


@pytest.mark.parametrize("results", [[], None, "x", [{}] * 501])
def test_wrong_batches(results: object) -> None:
    answer = Bot().post("submit/batch", {"results": results})
    assert (answer.status_code, answer.json()["error"]) == (400, "validation_error")


def test_locks_that_ran_out_wait_for_a_person() -> None:
    bot = Bot()
    mine, overdue = pulled(bot, 2)
    age([overdue], 601)
    out = StringIO()
    call_command("expire_locks", stdout=out)
    assert out.getvalue() == "ended 1 lock\n"
    job = CrawlJob.objects.get(pk=overdue)
    assert (job.status, job.locked_by, job.last_locked_by, job.retry_count) == ("expired", None, "bot-001", 0)
    assert CrawlJob.objects.get(pk=mine).status == "locked"
    assert bot.pull() == [], "nobody gets it"
    assert actions.schedule_due() == 0, "nor a new one"
    assert bot.submit(overdue).json()["error"] == "lock_expired"
    assert Bot("bot-002").submit(overdue).json()["error"] == "job_not_locked"


def test_requeued_locks_are_failed_attempts() -> None:
    bot = Bot()
    (job_id,) = pulled(bot, 1, requeue_expired=True, max_retries=2)
    age([job_id], 601)
    assert actions.expire_overdue() == 1
    assert [job["retry_count"] for job in bot.pull()] == [1]
    age([job_id], 601)
    actions.expire_overdue()
    job = CrawlJob.objects.get(pk=job_id)
    assert (job.status, job.retry_count, job.last_error) == ("failed", 2, "Lock TTL exceeded")
    assert job.finished_at is not None
    assert ProductURL.objects.get().next_due_at is not None


@pytest.mark.django_db(transaction=True)
def test_a_waiting_pull_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.02)
    bot = Bot()
    answers: list[Any] = []

    def wait() -> None:
        answers.append(bot.pull(wait_seconds=30))
        connection.close()

    thread = threading.Thread(target=wait)
    thread.start()
    make_jobs(1)
    thread.join(20)
    assert [len(jobs) for jobs in answers] == [1]


@pytest.mark.django_db(transaction=True)
def test_only_so_many_may_wait() -> None:
    waiters = waiting.Waiting()
    with ExitStack() as stack:
        admitted = [stack.enter_context(waiters.place()) for _ in range(5)]
        assert admitted == [True] * 4 + [False], "half of SERVER_THREADS"
    assert waiters.waiters == 0
