"""The lock of a job against a model of it, through the HTTP API, on whichever database the run uses.

Rivals pull, answer, extend and give back, keep every proof they ever got, and show it again later; time passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule, run_state_machine_as_test

from crawler.bots import actions
from crawler.bots.models import BotConfig, CrawlJob, CrawlPolicy, CrawlResult, ProductURL
from crawler.domains.models import Domain
from tests.api.bots import Bot, make_jobs

pytestmark = pytest.mark.django_db

JOBS, TTL, ATTEMPTS = 4, 600, 3
BOTS = ("a", "b", "c")


@dataclass(frozen=True)
class Proof:
    """What a bot got with a job."""

    bot: str
    job_id: str
    fence: int


@dataclass
class Model:
    """What a job should be. Times are seconds since its lock began."""

    status: str = "pending"
    holder: str | None = None
    last_holder: str | None = None
    age: int = 0
    extension: int = 0
    fence: int = 0
    retries: int = 0
    results: int = 0

    @property
    def overdue(self) -> bool:
        return self.status == "locked" and self.age >= TTL + self.extension

    def held_by(self, proof: Proof, *, fenced: bool) -> bool:
        mine = self.status == "locked" and self.holder == proof.bot and not self.overdue
        return mine and (not fenced or self.fence == proof.fence)

    def lock(self, bot: str) -> None:
        self.status, self.holder, self.last_holder = "locked", bot, bot
        self.age, self.extension = 0, 0
        self.fence += 1

    def unlock(self, status: str) -> None:
        self.status, self.holder = status, None

    def expire(self) -> None:
        if self.overdue:
            self.unlock("expired")

    def refusal(self, proof: Proof, *, fenced: bool) -> str:
        if self.status == "expired" and self.last_holder == proof.bot:
            return "lock_expired"
        if self.status != "locked":
            return "job_not_locked"
        if self.holder != proof.bot or (fenced and self.fence != proof.fence):
            return "not_assigned"
        return "lock_expired"


@dataclass
class World:
    bots: dict[str, Bot] = field(default_factory=dict)
    jobs: dict[str, Model] = field(default_factory=dict)  # in the order of the queue


class LockMachine(RuleBasedStateMachine):
    proofs = Bundle("proofs")

    def __init__(self) -> None:
        super().__init__()
        for table in (CrawlResult, CrawlJob, ProductURL, CrawlPolicy, Domain, BotConfig):
            table.objects.all().delete()
        make_jobs(JOBS, "example.com", max_retries=ATTEMPTS, timeout_seconds=TTL, respect_host_limits=False)
        queue = CrawlJob.objects.order_by("created_at", "product_url_hash").values_list("pk", flat=True)
        self.world = World({name: Bot(name) for name in BOTS}, {str(pk): Model() for pk in queue})

    def bot(self, proof: Proof) -> Bot:
        return self.world.bots[proof.bot]

    @rule(target=proofs, name=st.sampled_from(BOTS), most=st.integers(1, JOBS))
    def pull(self, name: str, most: int) -> object:
        answer = self.world.bots[name].post("pull", {"max_jobs": most}).json()["data"]
        pending = {key for key, job in self.world.jobs.items() if job.status == "pending"}
        held = [job for job in self.world.jobs.values() if job.status == "locked" and not job.overdue]
        assert answer["skipped"] == sum(job.holder != name for job in held)
        got = [job["job_id"] for job in answer["jobs"]]
        assert len(set(got)) == len(got) == min(most, len(pending)), "as many as there are, each once"
        assert set(got) <= pending, "nothing that somebody has"
        for one in answer["jobs"]:
            model = self.world.jobs[one["job_id"]]
            model.lock(name)
            assert (one["fence"], one["retry_count"]) == (model.fence, model.retries)
        return multiple(*[Proof(name, one["job_id"], one["fence"]) for one in answer["jobs"]])

    @rule(proof=proofs, fenced=st.booleans())
    def succeed(self, proof: Proof, fenced: bool) -> None:
        job = self.world.jobs[proof.job_id]
        held = job.held_by(proof, fenced=fenced)
        answer = self.bot(proof).submit(proof.job_id, **self.shown(proof, fenced))
        if not held:
            return self.refused(answer, proof, fenced)
        assert (answer.status_code, answer.json()["data"]["status"]) == (201, "done")
        job.unlock("done")
        job.results += 1

    @rule(proof=proofs, fenced=st.booleans())
    def fail(self, proof: Proof, fenced: bool) -> None:
        job = self.world.jobs[proof.job_id]
        held = job.held_by(proof, fenced=fenced)
        answer = self.bot(proof).submit(proof.job_id, success=False, **self.shown(proof, fenced))
        if not held:
            return self.refused(answer, proof, fenced)
        job.retries += 1
        job.unlock("failed" if job.retries == ATTEMPTS else "pending")
        data = answer.json()["data"]
        assert (data["status"], data["retry_count"]) == (job.status, job.retries)

    def shown(self, proof: Proof, fenced: bool) -> dict[str, Any]:
        return {"fence": proof.fence} if fenced else {}

    def refused(self, answer: Any, proof: Proof, fenced: bool) -> None:
        job = self.world.jobs[proof.job_id]
        assert answer.json()["error"] == job.refusal(proof, fenced=fenced)
        if job.refusal(proof, fenced=fenced) == "lock_expired":
            job.expire()

    @rule(proof=proofs)
    def extend(self, proof: Proof) -> None:
        job = self.world.jobs[proof.job_id]
        held = job.held_by(proof, fenced=False)
        data = self.bot(proof).post("heartbeat", {"job_ids": [proof.job_id]}).json()["data"]
        assert bool(data["extended"]) is held
        assert bool(data["lost"]) is not held
        if held:
            job.extension = job.age + 1  # seconds are rounded up

    @rule(proof=proofs)
    def give_back(self, proof: Proof) -> None:
        job = self.world.jobs[proof.job_id]
        held = job.held_by(proof, fenced=False)
        data = self.bot(proof).post("release", {"job_ids": [proof.job_id]}).json()["data"]
        assert bool(data["released"]) is held
        if held:
            job.unlock("pending")

    # Steps that a real moment, which passes meanwhile, cannot blur.
    @rule(seconds=st.sampled_from([100, 350, 700, 1400]))
    def pass_time(self, seconds: int) -> None:
        CrawlJob.objects.filter(status="locked").update(locked_at=F("locked_at") - timedelta(seconds=seconds))
        for job in self.world.jobs.values():
            job.age += seconds if job.status == "locked" else 0

    @rule()
    def expire_overdue(self) -> None:
        overdue = [job for job in self.world.jobs.values() if job.overdue]
        assert actions.expire_overdue() == len(overdue)
        for job in overdue:
            job.expire()

    @invariant()
    def rows_are_as_modelled(self) -> None:
        rows = CrawlJob.objects.values_list("pk", "status", "locked_by", "fence", "retry_count")
        found = {str(pk): values for pk, *values in rows}
        expected = {key: [job.status, job.holder, job.fence, job.retries] for key, job in self.world.jobs.items()}
        assert found == expected

    @invariant()
    def results_are_done_jobs(self) -> None:
        stored = [str(pk) for pk in CrawlResult.objects.values_list("job_id", flat=True)]
        assert sorted(stored) == sorted(key for key, job in self.world.jobs.items() if job.results)
        assert all(job.results == (job.status == "done") for job in self.world.jobs.values())


def test_the_lock_behaves_like_its_model() -> None:
    run_state_machine_as_test(
        LockMachine,
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
