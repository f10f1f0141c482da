"""kill -9 at fifty moments, and workers that are stopped for longer than their claims last."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.crawl_checks import assert_archive_whole, assert_nothing_lost_or_twice, assert_polite
from tests.faults.crawl_processes import CrawlProcesses
from tests.faults.engine_site import CAME, PHASES, LoopbackSite, Web
from tests.faults.platform import PATIENCE_SECONDS

pytestmark = pytest.mark.postgresql

KILLS = 50
DELAY_SECONDS = 0.02


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[CrawlProcesses]:
    with CrawlProcesses(tmp_path) as made:
        yield made


@pytest.fixture
def web() -> Iterator[Web]:
    yield Web(720, slow_pages=16, crawl_delay_seconds=0.1)


@pytest.fixture
def site(web: Web) -> Iterator[LoopbackSite]:
    with LoopbackSite(web.answers, web.HOSTS) as started:
        web.port = started.port
        yield started


def begin(crawl: CrawlProcesses, web: Web) -> None:
    crawl.prepare(web.url_of(0), allowed=web.domains, crawl_delay_ms=DELAY_SECONDS * 1000, adaptive=False)


class Death:
    """A moment at which a worker dies: at a request, before a statement, or in the middle of a write."""

    def __init__(self, chance: random.Random) -> None:
        self.kind = chance.choice(["request", "request", "statement", "statement", "write"])
        self.request, self.phase = chance.randint(1, 16), chance.choice(PHASES)
        self.statement, self.write = chance.randint(1, 120), chance.randint(1, 3)

    @property
    def options(self) -> dict[str, Any]:
        return {"statement": {"die_at_statement": self.statement}, "write": {"die_in_write": self.write}}.get(
            self.kind, {}
        )

    def meet(self, crawl: CrawlProcesses, site: LoopbackSite) -> int:
        """A worker's life until then; its exit code."""
        pids: list[int] = []
        if self.kind == "request":
            site.plan(self.request, self.phase, lambda: os.kill(pids[0], signal.SIGKILL))
        pids.append(crawl.work(**self.options))
        return crawl.wait(pids[0])


def documents(crawl: CrawlProcesses) -> set[tuple[Any, ...]]:
    return set(crawl.rows("SELECT url_hash, storage_path, crawled_at FROM crawled_documents"))


def known_urls(crawl: CrawlProcesses) -> set[tuple[Any, ...]]:
    return set(crawl.rows("SELECT id, url_hash FROM url_frontier"))


def test_fifty_deaths_lose_nothing(crawl: CrawlProcesses, web: Web, site: LoopbackSite) -> None:
    begin(crawl, web)
    chance = random.Random(4)
    stored, known = documents(crawl), known_urls(crawl)
    for number in range(KILLS):
        death = Death(chance)
        assert death.meet(crawl, site) == -signal.SIGKILL, f"{number}: {vars(death)} {crawl.log}"
        before, stored = stored, documents(crawl)
        assert before <= stored, "what was committed is still there"
        met, known = known, known_urls(crawl)
        assert met <= known
    assert len(stored) < web.pages, "it was not all done before the last death"
    assert crawl.wait(crawl.work()) == 0, crawl.log
    assert stored <= documents(crawl), "and none of it was fetched again"
    assert_nothing_lost_or_twice(crawl, web)
    assert_archive_whole(crawl)
    assert_polite(site.log, web, DELAY_SECONDS)


# A worker that sleeps longer than its claims last. What it fetched before is in no commit yet.
SLEEPER = {"lease_seconds": 0.6, "limits": {"batch_pages": 1000, "batch_seconds": 3, "renew_seconds": 0.2}}


@pytest.fixture
def small_web(web: Web) -> Web:
    web.pages, web.slow_pages = 120, 0
    return web


def put_to_sleep(crawl: CrawlProcesses, site: LoopbackSite) -> int:
    """A worker that was stopped while it waits for an answer, with pages fetched that it has not committed."""
    pids: list[int] = []
    planned = site.plan(40, CAME, lambda: os.kill(pids[0], signal.SIGSTOP))
    pids.append(crawl.work(**SLEEPER))
    assert planned.happened.wait(PATIENCE_SECONDS), crawl.log
    assert len(documents(crawl)) < 30, "not all of them are committed"
    return pids[0]


def test_a_sleeper_finds_its_work_done_by_another(crawl: CrawlProcesses, small_web: Web, site: LoopbackSite) -> None:
    begin(crawl, small_web)
    sleeper = put_to_sleep(crawl, site)
    assert crawl.wait(crawl.work(frees_claims=False)) == 0, crawl.log
    done = documents(crawl)
    os.kill(sleeper, signal.SIGCONT)
    assert crawl.wait(sleeper) == 0, crawl.log
    crawl.wait_for_log("lost the claim on a domain")
    assert documents(crawl) == done
    assert_nothing_lost_or_twice(crawl, small_web)
    assert_archive_whole(crawl)


def test_a_sleeper_wakes_while_another_is_at_work(crawl: CrawlProcesses, small_web: Web, site: LoopbackSite) -> None:
    begin(crawl, small_web)
    sleeper = put_to_sleep(crawl, site)
    asleep = len(site.log)
    planned = site.plan(30, CAME, lambda: os.kill(sleeper, signal.SIGCONT))
    other = crawl.work(frees_claims=False)
    assert planned.happened.wait(PATIENCE_SECONDS), crawl.log
    assert [crawl.wait(other), crawl.wait(sleeper)] == [0, 0], crawl.log
    assert_nothing_lost_or_twice(crawl, small_web)
    assert_archive_whole(crawl)
    assert_polite(site.log[asleep:], small_web, DELAY_SECONDS)


def test_a_sleeper_claims_again_what_another_gave_back(
    crawl: CrawlProcesses, small_web: Web, site: LoopbackSite
) -> None:
    """It must not bring its old pages under the new claim: the other has stored them meanwhile."""
    begin(crawl, small_web)
    sleeper = put_to_sleep(crawl, site)
    pids: list[int] = []
    planned = site.plan(60, CAME, lambda: os.kill(pids[0], signal.SIGTERM))
    pids.append(crawl.work(frees_claims=False))
    assert planned.happened.wait(PATIENCE_SECONDS), crawl.log
    assert crawl.wait(pids[0]) == 0, crawl.log
    assert 30 < len(documents(crawl)) < small_web.pages
    os.kill(sleeper, signal.SIGCONT)
    assert crawl.wait(sleeper) == 0, crawl.log
    assert_nothing_lost_or_twice(crawl, small_web)
    assert_archive_whole(crawl)
    assert_polite(site.log, small_web, DELAY_SECONDS)
