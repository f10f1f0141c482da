"""How many jobs to hold: enough that no worker waits for the next, no more than are soon begun."""

from __future__ import annotations

from math import ceil

from crawler.integrations.client.errands import MOST_JOBS_PER_PULL

AHEAD_SECONDS = 5.0  # work kept ready
PART_OF_THE_LOCK = 0.25  # a job begins within so much of its lock's time
NEWEST_WEIGHT = 0.2


class Pace:
    def __init__(self, workers: int, most_per_pull: int) -> None:
        self.workers = workers
        self.most_per_pull = max(1, min(most_per_pull, MOST_JOBS_PER_PULL))
        self.seconds_a_job: float | None = None
        self.lock_seconds = 600.0

    def learn(self, seconds: float) -> None:
        """From how long a job took."""
        known = self.seconds_a_job
        self.seconds_a_job = seconds if known is None else known + NEWEST_WEIGHT * (seconds - known)

    def jobs_ahead(self) -> int:
        """Jobs to have ready besides those in work. None until a first job shows how long they take."""
        if self.seconds_a_job is None:
            return 0
        seconds = min(AHEAD_SECONDS, self.lock_seconds * PART_OF_THE_LOCK)
        most = self.workers * seconds / max(self.seconds_a_job, 1e-4)
        return min(self.most_per_pull, ceil(most) if most >= 0.5 else 0)

    def jobs_to_pull(self, busy: int, waiting: int) -> int:
        ahead = self.jobs_ahead()
        free = self.workers - busy - waiting
        if free <= 0 and waiting > ahead // 2:
            return 0
        return max(0, min(self.most_per_pull, free + ahead))
