"""The scheduler: runs each periodic task when it is due. Any number of schedulers may run."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

from django.db import DatabaseError, InterfaceError, connection

from crawler.foundation import lease
from crawler.foundation.clock import clock_of
from crawler.foundation.ids import short_id
from crawler.foundation.periodic import Periodic
from crawler.processes.heartbeat import signed_in
from crawler.processes.models import PeriodicTask

log = logging.getLogger(__name__)

TABLE = lease.LeaseTable(PeriodicTask._meta.db_table, key="name")
LEASE_SECONDS = 120
TICK_SECONDS = 1.0
FIRST_RETRY_SECONDS = 10


class Scheduler:
    def __init__(self, tasks: Mapping[str, Periodic]) -> None:
        self.tasks = tasks
        self.holder = short_id("scheduler")
        self.running: lease.Lease | None = None

    def run(self, stop: threading.Event) -> None:
        """Until `stop` is set. A database that is away is waited for."""
        with signed_in("scheduler", self.renew):
            self.announce_tasks()
            while not stop.wait(TICK_SECONDS):
                self.run_all_due(stop)

    def announce_tasks(self) -> None:
        """Make sure that every task has its row; a new one is due at once."""
        with connection.cursor() as cursor:
            for name in self.tasks:
                cursor.execute(
                    "INSERT INTO processes_periodictask (name, next_run_at, last_outcome, failures_in_a_row, version)"
                    f" VALUES (%s, {clock_of().now}, '', 0, 0) ON CONFLICT (name) DO NOTHING",
                    [name],
                )

    def run_all_due(self, stop: threading.Event) -> None:
        try:
            while not stop.is_set() and self.run_one_due():
                pass
        except (DatabaseError, InterfaceError) as error:
            log.warning("the database cannot be reached; trying again", extra={"error": str(error)})
            connection.close()

    def run_one_due(self) -> bool:
        """Claim and run one task. False when none is due."""
        names = ", ".join(["%s"] * len(self.tasks))
        held = lease.claim(
            TABLE,
            self.holder,
            seconds=LEASE_SECONDS,
            limit=1,
            where=f"next_run_at <= {clock_of().now} AND name IN ({names})",
            params=list(self.tasks),
            order_by="next_run_at",
        )
        for self.running in held:
            self.perform(self.tasks[self.running.key], self.running)
        self.running = None
        return bool(held)

    def perform(self, task: Periodic, held: lease.Lease) -> None:
        began = time.monotonic()
        try:
            outcome, failed = task.work(), False
        except Exception as error:
            log.exception("task %s failed", task.name)
            outcome, failed = f"{type(error).__name__}: {error}", True
        seconds = round(time.monotonic() - began, 3)
        log.log(
            logging.DEBUG if not failed else logging.ERROR, "%s: %s", task.name, outcome, extra={"seconds": seconds}
        )
        if not finish(task, held, outcome, failed):
            log.warning("task %s outlived its lease; its outcome was not kept", task.name)

    def renew(self) -> None:
        if held := self.running:
            lease.renew_many_if_held(TABLE, [held], seconds=LEASE_SECONDS)


def finish(task: Periodic, held: lease.Lease, outcome: str, failed: bool) -> bool:
    """Note the outcome and the next run: on schedule, or sooner after a failure (10 s, 20 s, 40 s, …)."""
    clock = clock_of()
    failures = PeriodicTask.objects.get(pk=task.name).failures_in_a_row + 1 if failed else 0
    wait = min(task.every_seconds, FIRST_RETRY_SECONDS * 2 ** min(failures - 1, 20)) if failed else task.every_seconds
    return lease.finish_if_held(
        TABLE,
        held,
        f"next_run_at = {clock.later}, last_finished_at = {clock.now_exact}, last_outcome = %s, failures_in_a_row = %s",
        [wait, outcome[:2000], failures],
    )
