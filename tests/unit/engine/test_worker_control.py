"""What steers a worker: budgets, pause and cancel, stopping, claims, and hosts that do not want us."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from crawler.crawls.models import Crawl, CrawlLog, CrawlRun, FrontierURL, PageBudget
from crawler.domains.models import Domain, RobotsRecord
from crawler.engine.limits import Limits
from tests.faults.engine_site import Asked, Reply
from tests.services.servers import free_port
from tests.unit.engine.in_process import LIMITS, Crawling, Once, Replies, SkippingStore, crawling, page

pytestmark = pytest.mark.django_db

MANY = [f"/{number}" for number in range(60)]


def many_pages() -> Replies:
    return {"/": page(*MANY)} | {path: page(text=f"the page at {path}") for path in MANY}


def limits(**changes: float) -> Limits:
    values = {name: getattr(LIMITS, name) for name in LIMITS.__dataclass_fields__} | changes
    return Limits(**values)


def counted(crawl: Crawling) -> tuple[int, int, int]:
    """Pages that were crawled: by the crawl, by the log, and the documents there are."""
    crawl.crawl.refresh_from_db()
    return crawl.crawl.pages_crawled, CrawlLog.objects.filter(outcome="page").count(), len(crawl.documents())


# Budgets.


@pytest.mark.parametrize("budget", [1, 7, 50, 51, 61])
def test_max_pages_is_exact(tmp_path: Path, budget: int) -> None:
    with crawling(tmp_path, many_pages()) as crawl:
        crawl.create(max_pages=budget)
        crawl.run()
    assert counted(crawl) == (budget, budget, budget)
    assert crawl.crawl.status == "completed"
    assert not PageBudget.objects.exists()


def test_what_is_not_stored_costs_no_budget(tmp_path: Path) -> None:
    """Failures, redirects and refusals among the pages: the budget is for pages."""
    odd: dict[str, Reply] = {path: Reply("no", 404) for path in MANY[::4]}
    odd |= {path: Reply("", 301, {"Location": MANY[3]}) for path in MANY[1::4]}
    odd |= {path: Reply("%PDF", headers={"Content-Type": "application/pdf"}) for path in MANY[2::4]}
    with crawling(tmp_path, {**many_pages(), **odd}) as crawl:
        crawl.create(max_pages=12)
        crawl.run()
    assert counted(crawl) == (12, 12, 12)


def test_a_raised_budget_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with crawling(tmp_path, many_pages()) as crawl:
        crawl.create(max_pages=10)
        crawl.run()
        Crawl.objects.update(config=crawl.crawl.config | {"max_pages": 25}, status="running")
        crawl.run()
    assert counted(crawl) == (25, 25, 25)
    assert len(crawl.asked_at) == 25 + 1, "nothing is asked for twice; robots.txt once"


@pytest.mark.parametrize("change", ["rules", "pause"])
def test_a_budget_stays_exact_when_the_crawl_changes_meanwhile(tmp_path: Path, change: str) -> None:
    """What was set aside before is neither lost nor set aside twice."""

    def changes() -> bool:
        if len(crawl.asked_at) > 10 and not changed:
            changed.append(True)
            row = Crawl.objects.get()
            row.config |= {"max_attempts": 5}
            row.status = "paused" if change == "pause" else row.status
            row.save()
        elif changed and change == "pause":
            Crawl.objects.filter(status="paused").update(status="running")
        return False

    changed: list[bool] = []
    with crawling(tmp_path, many_pages()) as crawl:
        crawl.create(max_pages=53)
        crawl.run(changes)
        crawl.run()
    assert changed
    assert counted(crawl) == (53, 53, 53)
    assert crawl.crawl.status == "completed"


def test_a_worker_without_budget_waits_for_the_one_that_has_it(tmp_path: Path) -> None:
    """Another worker has set the whole budget aside and has not stored anything yet."""
    with crawling(tmp_path, many_pages()) as crawl:
        crawl.create(max_pages=5)
        assert SkippingStore("other").reserve(crawl.crawl.pk, 50) == 5
        crawl.run()
        assert counted(crawl) == (0, 0, 0)
        crawl.crawl.refresh_from_db()
        assert crawl.crawl.status == "running"
        SkippingStore("other").give_back()
        crawl.run()
    assert counted(crawl) == (5, 5, 5)


# Pause, cancel, stop.


@pytest.mark.parametrize("status", ["paused", "cancelled"])
def test_a_crawl_that_is_paused_or_cancelled_stops_within_a_batch(tmp_path: Path, status: str) -> None:
    def ends_it(asked: Asked) -> Reply:
        ended.append(len(crawl.asked_at))
        return page(text="the last one")

    ended: list[int] = []
    with crawling(tmp_path, {**many_pages(), MANY[5]: ends_it}) as crawl:
        crawl.create()
        crawl.run(lambda: ended and Crawl.objects.filter(status="running").update(status=status) and False)
        assert len(crawl.asked_at) - ended[0] <= LIMITS.batch_pages
        assert counted(crawl)[0] == counted(crawl)[2] < len(MANY)
        assert Domain.objects.get().claimed_by is None
        Crawl.objects.update(status="running")
        crawl.run()
    assert counted(crawl) == (61, 61, 61)


def test_stopped_it_saves_what_it_has_and_gives_its_claims_back(tmp_path: Path) -> None:
    """Also the answer that is under way when it is told to stop."""
    with crawling(tmp_path, many_pages()) as crawl:
        crawl.create()
        crawl.run(
            lambda: len(crawl.asked_at) > 20, until_done=False, limits=limits(batch_seconds=60.0, batch_pages=1000)
        )
        assert counted(crawl)[0] == len(crawl.asked_at) - 1, "every page that was asked for, without robots.txt"
        domain = Domain.objects.get()
        assert (domain.claimed_by, domain.status) == (None, "active")
        assert domain.frontier_size == FrontierURL.objects.filter(status="pending").count() > 0
        crawl.run()
    assert counted(crawl) == (61, 61, 61)
    assert len(crawl.asked_at) == 62, "nothing twice"


def test_the_end_of_a_crawl(tmp_path: Path) -> None:
    with crawling(tmp_path, many_pages()) as crawl:
        crawl.create()
        crawl.run()
    domain, run = Domain.objects.get(), CrawlRun.objects.get()
    assert (domain.status, domain.frontier_size, domain.pages_crawled, domain.claimed_by) == ("exhausted", 0, 61, None)
    assert (run.status, run.pages_crawled, run.end_reason) == ("completed", 61, "nothing left to fetch")
    crawl.crawl.refresh_from_db()
    assert (crawl.crawl.status, crawl.crawl.pages_queued) == ("completed", 0)
    assert (crawl.progress.pages, crawl.progress.failed, crawl.progress.refused) == (61, 0, 0)


def test_two_crawls_of_one_site_share_its_clock(tmp_path: Path) -> None:
    """Each has its own frontier and the stricter delay holds for both."""
    with crawling(tmp_path, many_pages()) as crawl:
        crawl.create(crawl_delay_ms=0, max_pages=5)
        first = crawl.crawl
        Crawl.objects.update(name="first")
        second = crawl.create(crawl_delay_ms=3000, max_pages=4, adaptive=False)
        crawl.run()
    assert [Crawl.objects.get(pk=one.pk).pages_crawled for one in (first, second)] == [5, 4]
    while_both = crawl.times()[:8]
    assert min(later - earlier for earlier, later in pairwise(while_both)) >= 3.0


# Hosts that do not want us.


def test_robots_that_break_park_the_domain(tmp_path: Path) -> None:
    robots = Once(Reply("broken", 500), Reply("User-agent: *\nDisallow: /1\n", headers={"Content-Type": "text/plain"}))
    with crawling(tmp_path, {**many_pages(), "/robots.txt": robots}) as crawl:
        crawl.create()
        crawl.run()
        assert [path for _, path in crawl.asked_at] == ["/robots.txt"]
        domain = Domain.objects.get()
        assert domain.claimed_by is None
        assert domain.next_crawl_after is not None
        assert crawl.progress.parked == {domain.name: "robots.txt: HTTP 500"}
        assert crawl.frontier("/").status == "pending"
        # The day passes.
        Domain.objects.update(next_crawl_after=None)
        RobotsRecord.objects.update(expires_at="2020-01-01T00:00:00Z")
        crawl.run()
    assert crawl.statuses()["/1"] == "robots"
    assert counted(crawl)[0] == 60 - len([path for path in MANY if path.startswith("/1")]) + 1
    assert RobotsRecord.objects.count() == 2, "its history is kept"


def test_a_host_that_only_breaks_is_left_alone(tmp_path: Path) -> None:
    broken: Replies = {path: Reply("no", 500) for path in MANY}
    with crawling(tmp_path, {**many_pages(), **broken}) as crawl:
        crawl.create()
        crawl.run()
    domain = Domain.objects.get()
    assert (domain.status, domain.block_reason_code, domain.claimed_by) == ("blocked", "server_errors", None)
    assert domain.next_crawl_after is not None
    assert len(crawl.asked_at) <= 2 + 25 + 1, "one may have been under way"
    pending = FrontierURL.objects.filter(status="pending").count()
    assert pending == domain.frontier_size > 0, "what it has not answered is still to be fetched"
    assert "errors in a row" in crawl.progress.parked[domain.name]


def test_a_host_that_is_not_there(tmp_path: Path) -> None:
    with crawling(
        tmp_path, {"/": page(f"http://127.0.0.2:{free_port()}/x", "/good"), "/good": page(text="g")}
    ) as crawl:
        crawl.create(filters={"allowed_domains": ["127.0.0.1", "127.0.0.2"]})
        crawl.run()
    domain = Domain.objects.get(name__startswith="127.0.0.2")
    assert (domain.status, domain.block_reason_code) == ("unreachable", "connection_failed")
    assert crawl.documents() == {"/", "/good"}
    assert CrawlLog.objects.filter(domain=domain.name, outcome="failed").count() == 1
