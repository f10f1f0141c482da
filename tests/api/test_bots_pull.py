"""POST /api/crawl/pull/: shapes, codes, order, caps, filter, politeness."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from crawler.accounts.actors import SYSTEM
from crawler.bots import actions
from crawler.bots.models import BotConfig, CrawlJob
from crawler.domains.models import Domain
from tests.api.bots import Bot, make_jobs, policy_for

pytestmark = pytest.mark.django_db
JOB_FIELDS = {
    "job_id", "url", "priority", "max_retries", "timeout_seconds", "retry_count", "locked_until", "fence",
}  # fmt: skip


def test_a_pulled_job_has_the_documented_shape() -> None:
    make_jobs(1, priority=10)
    answer = Bot().post("pull", {"max_jobs": 5, "domain": "example.com"})
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"success", "data"}
    assert body["success"] is True
    assert set(body["data"]) == {"jobs", "count", "skipped"}
    assert (body["data"]["count"], body["data"]["skipped"]) == (1, 0)
    (job,) = body["data"]["jobs"]
    assert set(job) == JOB_FIELDS
    assert str(UUID(job["job_id"])) == job["job_id"]
    assert job["url"] == "https://example.com/product/0"
    assert (job["priority"], job["max_retries"], job["timeout_seconds"], job["retry_count"]) == (10, 3, 600, 0)
    until = datetime.fromisoformat(job["locked_until"])
    assert timedelta(seconds=590) < until - timezone.now() <= timedelta(seconds=600)
    assert job["locked_until"].endswith("Z")


def test_a_pull_locks_the_row() -> None:
    make_jobs(1)
    (pulled,) = Bot().pull()
    job = CrawlJob.objects.get(pk=pulled["job_id"])
    assert job.status == CrawlJob.STATE_LOCKED
    assert (job.locked_by, job.fence) == ("bot-001", 1)
    assert job.locked_at is not None
    assert job.locked_until == job.locked_at + timedelta(seconds=600)
    assert not job.is_lock_expired()
    assert BotConfig.objects.get().last_seen_at is not None


def test_nothing_to_do_is_an_empty_list() -> None:
    assert Bot().post("pull").json() == {"success": True, "data": {"jobs": [], "count": 0, "skipped": 0}}


@pytest.mark.parametrize("path", ["/api/crawl/pull/", "/api/crawl/pull"])
def test_with_and_without_the_slash(path: str) -> None:
    bot = Bot()
    body = f'{{"bot_id": "bot-001", "api_token": "{bot.token}"}}'
    assert bot.client.generic("POST", path, body, content_type="application/json").status_code == 200


def test_order_is_priority_then_age() -> None:
    make_jobs(2, "low.com", priority=1)
    make_jobs(2, "high.com", priority=20)
    urls = [job["url"] for job in Bot().pull()]
    assert urls == [f"https://{name}/product/{n}" for name in ("high.com", "low.com") for n in (0, 1)]


def test_caps() -> None:
    policy_for("example.com", respect_host_limits=False)
    actions.add_product_urls(f"https://example.com/{n}" for n in range(230))
    actions.schedule_due()
    assert len(Bot("greedy").pull(max_jobs=1000)) == 100, "never more than 100"
    assert len(Bot("modest", max_jobs_per_pull=7).pull(max_jobs=50)) == 7, "nor than the bot may have"
    assert len(Bot("default").post("pull").json()["data"]["jobs"]) == 10, "ten unless said otherwise"


def test_no_job_goes_to_two_bots_and_the_others_are_counted() -> None:
    make_jobs(5)
    first, second = Bot("bot-001"), Bot("bot-002")
    mine = {job["job_id"] for job in first.pull(3)}
    answer = second.post("pull").json()["data"]
    assert answer["skipped"] == 3
    assert mine.isdisjoint(job["job_id"] for job in answer["jobs"])
    assert answer["count"] == 2
    assert first.post("pull").json()["data"]["skipped"] == 2, "its own are not counted"


def test_the_domain_filter_is_contained_in_the_name() -> None:
    make_jobs(2, "shop.example.com")
    make_jobs(1, "example.net")
    make_jobs(1, "other.org")
    bot, other = Bot(), Bot("bot-002")
    assert len(other.pull(1, domain="EXAMPLE.com")) == 1
    answer = bot.post("pull", {"domain": "example"}).json()["data"]
    assert {job["url"].split("/")[2] for job in answer["jobs"]} == {"shop.example.com", "example.net"}
    assert answer["skipped"] == 1
    assert bot.post("pull", {"domain": "nowhere"}).json()["data"] == {"jobs": [], "count": 0, "skipped": 0}
    assert bot.post("pull", {"domain": None}).json()["data"]["count"] == 1


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"max_jobs": 0}, "max_jobs", "Ensure this value is greater than or equal to 1."),
        ({"max_jobs": "five"}, "max_jobs", "A valid integer is required."),
        ({"max_jobs": None}, "max_jobs", "This field may not be null."),
        ({"domain": 5}, "domain", "Not a valid string."),
        ({"domain": "x" * 256}, "domain", "Ensure this field has no more than 255 characters."),
        ({"wait_seconds": "soon"}, "wait_seconds", "A valid number is required."),
    ],
)
def test_wrong_fields_are_named(body: dict[str, object], field: str, message: str) -> None:
    answer = Bot().post("pull", body)
    assert answer.status_code == 400
    assert answer.json() == {"success": False, "error": "validation_error", "detail": {field: [message]}}


@pytest.mark.parametrize("body", ["{", "[]", "3", '{"max_jobs": NaN}', ""])
def test_what_is_not_a_json_object(body: str) -> None:
    answer = Bot().send("pull", body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "validation_error"
    assert list(answer.json()["detail"]) == ["body"]


def test_only_post() -> None:
    answer = Bot().client.get("/api/crawl/pull/")
    assert answer.status_code == 405
    assert answer.json()["success"] is False


def test_a_host_gets_no_more_than_it_may_be_asked_for_in_the_locks_time() -> None:
    make_jobs(20, "slow.com", timeout_seconds=60)
    Domain.objects.filter(name="slow.com").update(crawl_delay_ms=10_000)
    make_jobs(3, "fast.com", priority=1)
    first, second = Bot("bot-001"), Bot("bot-002")
    urls = [job["url"] for job in first.pull(10)]
    assert sum("slow.com" in url for url in urls) == 6, "60 s by 10 s"
    assert sum("fast.com" in url for url in urls) == 3, "others behind it are not kept waiting"
    assert second.pull(10) == [], "also not more by asking twice"


def test_answered_jobs_have_used_their_hosts_time() -> None:
    make_jobs(5, "slow.com", timeout_seconds=60)
    Domain.objects.filter(name="slow.com").update(crawl_delay_ms=30_000)
    bot = Bot()
    for job in bot.pull():
        assert bot.submit(job["job_id"]).status_code == 201
    assert bot.pull() == []
    Domain.objects.filter(name="slow.com").update(next_request_at=timezone.now() - timedelta(seconds=1))
    assert len(bot.pull()) == 2


def test_a_host_slower_than_the_lock_is_asked_for_one() -> None:
    make_jobs(3, "glacial.com", timeout_seconds=60)
    Domain.objects.filter(name="glacial.com").update(crawl_delay_ms=3_600_000)
    assert [len(Bot(name).pull()) for name in ("a", "b")] == [1, 0]


def test_a_policy_may_ignore_the_hosts_limits() -> None:
    make_jobs(20, "slow.com", timeout_seconds=60, respect_host_limits=False)
    Domain.objects.filter(name="slow.com").update(crawl_delay_ms=10_000)
    assert len(Bot().pull(20)) == 20
    assert Domain.objects.get(name="slow.com").next_request_at is None


def test_a_domain_that_is_being_crawled_is_left_alone() -> None:
    make_jobs(2, "busy.com")
    domain = Domain.objects.filter(name="busy.com")
    domain.update(claimed_by="worker", claim_expires_at=timezone.now() + timedelta(minutes=5))
    bot = Bot()
    assert bot.pull() == []
    domain.update(claim_expires_at=timezone.now() - timedelta(seconds=1))
    assert len(bot.pull()) == 2


def test_a_disabled_policy_makes_no_jobs() -> None:
    make_jobs(1, enabled=False)
    assert Bot().pull() == []


def test_waiting_ends_when_its_time_is_over() -> None:
    assert Bot().pull(wait_seconds=0.01) == []


def test_disabled_bots_are_refused() -> None:
    bot = Bot()
    actions.set_enabled(SYSTEM, bot.config, False, reason="misbehaves")
    answer = bot.post("pull")
    assert answer.status_code == 403
    assert answer.json()["error"] == "authentication_error"
