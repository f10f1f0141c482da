from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from crawler.foundation.clock import database_now
from crawler.foundation.periodic import Periodic
from crawler.processes import registry
from crawler.processes.models import PeriodicTask, Process
from crawler.processes.scheduler import Scheduler

pytestmark = pytest.mark.django_db


def scheduler_of(work: Callable[[], str], every_seconds: float = 600) -> Scheduler:
    made = Scheduler({"t": Periodic("t", every_seconds, work)})
    made.announce_tasks()
    return made


def seconds_until_next() -> float:
    return (PeriodicTask.objects.get(name="t").next_run_at - database_now()).total_seconds()


def test_a_new_task_runs_at_once_and_then_on_schedule() -> None:
    runs: list[str] = []

    def work() -> str:
        runs.append("x")
        return "did it"

    scheduler = scheduler_of(work)
    assert [scheduler.run_one_due(), scheduler.run_one_due()] == [True, False]
    assert runs == ["x"]
    task = PeriodicTask.objects.get(name="t")
    assert (task.last_outcome, task.claimed_by, task.failures_in_a_row) == ("did it", None, 0)
    assert 590 < seconds_until_next() <= 600


def test_announcing_again_changes_nothing() -> None:
    scheduler = scheduler_of(lambda: "x")
    scheduler.run_one_due()
    scheduler.announce_tasks()
    assert not scheduler.run_one_due()


def test_a_failure_is_noted_and_tried_again_later_and_later() -> None:
    def broken() -> str:
        raise ValueError("no")

    scheduler = scheduler_of(broken)
    waits = []
    for _ in range(4):
        assert scheduler.run_one_due()
        waits.append(round(seconds_until_next()))
        PeriodicTask.objects.update(next_run_at=Now() - timedelta(seconds=1))
    assert waits == [10, 20, 40, 80]
    task = PeriodicTask.objects.get(name="t")
    assert (task.last_outcome, task.failures_in_a_row) == ("ValueError: no", 4)


def test_a_failing_task_is_never_slower_than_its_schedule() -> None:
    def broken() -> str:
        raise ValueError("no")

    scheduler = scheduler_of(broken, every_seconds=5)
    scheduler.run_one_due()
    assert seconds_until_next() <= 5


def test_two_schedulers_run_a_task_once() -> None:
    ran: list[bool] = []
    other = Scheduler({"t": Periodic("t", 600, lambda: "never")})

    def work() -> str:
        ran.append(other.run_one_due())
        return "x"

    scheduler = scheduler_of(work)
    scheduler.run_one_due()
    assert ran == [False]


def test_a_task_that_lost_its_lease_does_not_write() -> None:
    def robbed() -> str:
        PeriodicTask.objects.update(claimed_by="another", version=F("version") + 1)
        return "mine"

    scheduler = scheduler_of(robbed)
    scheduler.run_one_due()
    assert PeriodicTask.objects.get(name="t").last_outcome == ""


def test_the_lease_of_a_long_task_is_renewed() -> None:
    def long() -> str:
        PeriodicTask.objects.update(claim_expires_at=Now() + timedelta(seconds=5))
        scheduler.renew()
        return "x"

    scheduler = scheduler_of(long)
    scheduler.run_one_due()
    assert PeriodicTask.objects.get(name="t").last_outcome == "x"


def test_processes_sign_in_beat_and_get_lost() -> None:
    first = registry.sign_in("worker")
    registry.sign_in("server")
    Process.objects.filter(kind="server").update(last_seen_at=Now() - registry.LOST_AFTER - timedelta(seconds=1))
    alive = {process.kind: process.alive for process in registry.listed()}  # type: ignore[attr-defined]
    assert alive == {"worker": True, "server": False}
    Process.objects.filter(kind="server").update(last_seen_at=Now() - registry.FORGOTTEN_AFTER * 2)
    assert registry.forget_lost() == 1
    registry.sign_out(first)
    assert not Process.objects.exists()
