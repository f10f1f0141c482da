"""The lock of a job against a model of it, through the HTTP API, on whichever database the run uses.

Rivals pull, answer alone and in batches, extend and give back, keep every proof they ever got, and show it again later;
people reset, give up and extend jobs, change policies and disable bots; URLs become due again; and time passes: instead
of the database's clock, the moments in its rows are moved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F
from django.db.models.functions import Now
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule, run_state_machine_as_test

from crawler.accounts.actors import SYSTEM
from crawler.bots import actions
from crawler.bots.models import BotConfig, CrawlJob, CrawlPolicy, CrawlResult, ProductURL
from crawler.domains.models import Domain
from crawler.foundation.errors import Conflict
from tests.api.bots import Bot, make_jobs

pytestmark = pytest.mark.django_db

TTL = 600
BOTS = ("a", "b", "c")
# Domain: how many URLs, how many attempts a job has, whether a lock that ends counts as one.
POLICIES = {"waits.example": (3, 3, False), "again.example": (2, 2, True)}


@dataclass(frozen=True)
class Proof:
    """What a bot got with a job."""

    bot: str
    job_id: str
    fence: int


@dataclass
class Policy:
    row: CrawlPolicy
    attempts: int
    requeues: bool


@dataclass
class Model:
    """What a job should be. Times are seconds since its lock began."""

    url: str
    policy: Policy
    attempts: int
    status: str = "pending"
    holder: str | None = None
    last_holder: str | None = None
    age: int = 0
    extension: int = 0
    fence: int = 0
    retries: int = 0
    results: int = 0

    @property
    def is_open(self) -> bool:
        return self.status in ("pending", "locked")

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

    def succeed(self) -> None:
        self.unlock("done")
        self.results += 1

    def fail(self) -> None:
        self.retries += 1
        self.unlock("failed" if self.retries == self.attempts else "pending")

    def expire(self) -> None:
        if self.overdue and self.policy.requeues:
            self.fail()
        elif self.overdue:
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
    disabled: set[str] = field(default_factory=set)
    policies: dict[str, Policy] = field(default_factory=dict)
    jobs: dict[str, Model] = field(default_factory=dict)


class LockMachine(RuleBasedStateMachine):
    proofs = Bundle("proofs")

    def __init__(self) -> None:
        super().__init__()
        for table in (CrawlResult, CrawlJob, ProductURL, CrawlPolicy, Domain, BotConfig):
            table.objects.all().delete()
        self.world = World({name: Bot(name) for name in BOTS})
        for domain, (count, attempts, requeues) in POLICIES.items():
            fields = {"max_retries": attempts, "requeue_expired": requeues, "timeout_seconds": TTL}
            row = make_jobs(count, domain, respect_host_limits=False, **fields)
            self.world.policies[domain] = Policy(row, attempts, requeues)
        self.meet_new_jobs()

    def meet_new_jobs(self) -> int:
        """Jobs that the model does not know are new, and as their policy says."""
        known = len(self.world.jobs)
        domains = dict(ProductURL.objects.values_list("url_hash", "domain__name"))
        for key, url in CrawlJob.objects.values_list("pk", "product_url_hash"):
            policy = self.world.policies[domains[url]]
            self.world.jobs.setdefault(str(key), Model(url, policy, policy.attempts))
        return len(self.world.jobs) - known

    def ask(self, bot: str, path: str, body: dict[str, Any], **headers: str) -> Any:
        """None when the bot is disabled, which it must be told."""
        answer = self.world.bots[bot].post(path, body, **headers)
        if bot in self.world.disabled:
            assert (answer.status_code, answer.json()["error"]) == (403, "authentication_error")
            return None
        return answer

    @rule(target=proofs, name=st.sampled_from(BOTS), most=st.integers(1, 4))
    def pull(self, name: str, most: int) -> object:
        answer = self.ask(name, "pull", {"max_jobs": most})
        if answer is None:
            return multiple()
        data, jobs = answer.json()["data"], self.world.jobs
        pending = {key for key, job in jobs.items() if job.status == "pending"}
        held = [job for job in jobs.values() if job.status == "locked" and not job.overdue]
        assert data["skipped"] == sum(job.holder != name for job in held)
        got = [job["job_id"] for job in data["jobs"]]
        assert len(set(got)) == len(got) == min(most, len(pending)), "as many as there are, each once"
        assert set(got) <= pending, "nothing that somebody has"
        for one in data["jobs"]:
            jobs[one["job_id"]].lock(name)
            assert (one["fence"], one["retry_count"]) == (jobs[one["job_id"]].fence, jobs[one["job_id"]].retries)
        return multiple(*[Proof(name, one["job_id"], one["fence"]) for one in data["jobs"]])

    def body(self, proof: Proof, success: bool, fenced: bool) -> dict[str, Any]:
        shown = {"job_id": proof.job_id, "success": success} | ({"fence": proof.fence} if fenced else {})
        return shown | ({"price": 1, "currency": "EUR"} if success else {})

    @rule(proof=proofs, success=st.booleans(), fenced=st.booleans(), keyed=st.booleans())
    def submit(self, proof: Proof, success: bool, fenced: bool, keyed: bool) -> None:
        body, headers = self.body(proof, success, fenced), {"Idempotency-Key": uuid4().hex} if keyed else {}
        answer = self.ask(proof.bot, "submit", body, **headers)
        if answer is None:
            return
        if keyed:
            again = self.ask(proof.bot, "submit", body, **headers)
            assert (again.status_code, again.content) == (answer.status_code, answer.content)
        self.answered(proof, success, fenced, answer.status_code, answer.json())

    def answered(self, proof: Proof, success: bool, fenced: bool, status: int, told: Any) -> None:
        job = self.world.jobs[proof.job_id]
        if not job.held_by(proof, fenced=fenced):
            assert told["error"] == job.refusal(proof, fenced=fenced)
            if told["error"] == "lock_expired":
                job.expire()
        elif success:
            job.succeed()
            assert (status, told["data"]["status"]) == (201, "done")
        else:
            job.fail()
            said = (status, told["data"]["status"], told["data"]["retry_count"])
            assert said == (200, job.status, job.retries)

    @rule(
        shown=st.lists(st.tuples(proofs, st.booleans(), st.booleans()), min_size=1, max_size=4),
        name=st.sampled_from(BOTS),
    )
    def submit_batch(self, shown: list[tuple[Proof, bool, bool]], name: str) -> None:
        """Each as if it came alone; of those for one job, in order, as long as none was accepted."""
        proofs = [(Proof(name, p.job_id, p.fence), success, fenced) for p, success, fenced in shown]
        answer = self.ask(name, "submit/batch", {"results": [self.body(*one) for one in proofs]})
        if answer is None:
            return
        finished: set[str] = set()
        late = []
        for (proof, success, fenced), told in zip(proofs, answer.json()["data"]["results"], strict=True):
            if proof.job_id in finished:
                assert told["error"] in ("job_not_locked", "not_assigned")
            elif told["success"]:
                finished.add(proof.job_id)
                self.answered(proof, success, fenced, told["status_code"], told)
            else:
                job = self.world.jobs[proof.job_id]
                assert not job.held_by(proof, fenced=fenced)
                assert told["error"] == job.refusal(proof, fenced=fenced)
                late += [job] if told["error"] == "lock_expired" else []
        for job in late:
            job.expire()

    @rule(proof=proofs)
    def extend(self, proof: Proof) -> None:
        job = self.world.jobs[proof.job_id]
        answer = self.ask(proof.bot, "heartbeat", {"job_ids": [proof.job_id]})
        if answer is None:
            return
        held, data = job.held_by(proof, fenced=False), answer.json()["data"]
        assert bool(data["extended"]) is held
        assert bool(data["lost"]) is not held
        if held:
            job.extension = max(job.extension, job.age + 1)  # seconds are rounded up

    @rule(proof=proofs)
    def give_back(self, proof: Proof) -> None:
        job = self.world.jobs[proof.job_id]
        answer = self.ask(proof.bot, "release", {"job_ids": [proof.job_id]})
        if answer is None:
            return
        held = job.held_by(proof, fenced=False)
        assert bool(answer.json()["data"]["released"]) is held
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

    @rule()
    def days_pass(self) -> None:
        """Every URL whose job is over gets another."""
        busy = {job.url for job in self.world.jobs.values() if job.is_open}
        waits = {job.url for job in self.world.jobs.values() if job.status == "expired"}
        ProductURL.objects.exclude(next_due_at=None).update(next_due_at=Now())
        due = set(ProductURL.objects.exclude(next_due_at=None).values_list("url_hash", flat=True))
        assert due.isdisjoint(busy)
        assert due | busy | waits == {job.url for job in self.world.jobs.values()}, "no URL is forgotten"
        assert actions.schedule_due() == len(due) == self.meet_new_jobs()

    @rule(data=st.data(), verb=st.sampled_from(["reset", "give_up", "extend"]))
    def a_person_meddles(self, data: st.DataObject, verb: str) -> None:
        key = data.draw(st.sampled_from(sorted(self.world.jobs)))
        job, row = self.world.jobs[key], CrawlJob.objects.get(pk=key)
        others = [one for one in self.world.jobs.values() if one.url == job.url and one is not job and one.is_open]
        allowed = {
            "reset": job.status in ("locked", "expired", "failed") and not others,
            "give_up": job.status in ("pending", "locked", "expired"),
            "extend": job.status == "locked",
        }[verb]
        try:
            PEOPLE[verb](row)
        except Conflict:
            assert not allowed
            return
        assert allowed
        meddled(job, verb)

    @rule(domain=st.sampled_from(sorted(POLICIES)), requeues=st.booleans(), attempts=st.integers(1, 3))
    def change_policy(self, domain: str, requeues: bool, attempts: int) -> None:
        """Jobs that wait have the new attempts, one at least; what becomes of a lock that ends is looked up then."""
        policy = self.world.policies[domain]
        actions.change_policy(SYSTEM, policy.row, {"requeue_expired": requeues, "max_retries": attempts})
        for job in self.world.jobs.values():
            if job.policy is policy and job.status == "pending" and attempts != policy.attempts:
                job.attempts = max(attempts, job.retries + 1)
        policy.requeues, policy.attempts = requeues, attempts

    @rule(name=st.sampled_from(BOTS))
    def turn_a_bot(self, name: str) -> None:
        """Off or on; what it holds stays locked."""
        self.world.disabled ^= {name}
        actions.set_enabled(SYSTEM, self.world.bots[name].config, name not in self.world.disabled)

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


PEOPLE = {
    "reset": lambda row: actions.reset_job(SYSTEM, row),
    "give_up": lambda row: actions.force_fail_job(SYSTEM, row),
    "extend": lambda row: actions.extend_lock(SYSTEM, row, 100),
}


def meddled(job: Model, verb: str) -> None:
    if verb == "reset":
        job.unlock("pending")
        job.fence, job.retries = job.fence + 1, 0
    elif verb == "give_up":
        job.unlock("failed")
        job.retries = job.attempts
    else:
        job.extension += 100


def test_the_lock_behaves_like_its_model() -> None:
    run_state_machine_as_test(
        LockMachine,
        settings=settings(
            max_examples=20,
            stateful_step_count=35,
            deadline=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
