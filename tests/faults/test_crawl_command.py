"""`crawler crawl` as people use it: started, stopped, killed, started again."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.faults.platform import Platform, exists
from tests.faults.small_site import SmallSite

OWN_KEYS = {"pages", "failed", "refused", "bytes", "seconds", "pages_per_second", "database", "archive"}


@pytest.fixture
def site_with() -> Iterator[Callable[..., SmallSite]]:
    made: list[SmallSite] = []

    def make(*arguments: Any, **named: Any) -> SmallSite:
        made.append(SmallSite(*arguments, **named))
        return made[-1]

    yield make
    for site in made:
        site.close()


class Crawls:
    """Commands with one `--out`."""

    def __init__(self, platform: Platform, folder: Path) -> None:
        platform.settings["FETCH_ALLOWED_NETWORKS"] = "127.0.0.0/8"
        self.platform = platform
        self.out = folder / "out"

    def words(self, *words: str) -> list[str]:
        return ["crawl", *words, "--out", str(self.out)]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.platform.run(*self.words(*words))

    def json(self, *words: str, code: int = 0) -> dict[str, Any]:
        done = self.run(*words, "--json")
        assert done.returncode == code, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.stdout.count("\n") == 1
        return found

    def start(self, *words: str) -> subprocess.Popen[str]:
        running = self.platform.start(*self.words(*words))
        return running.process

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.out / "crawl.sqlite3") as connection:
            return connection.execute(statement).fetchall()


@pytest.fixture
def crawls(platform: Platform, tmp_path: Path) -> Crawls:
    return Crawls(platform, tmp_path)


def test_json_is_one_object_and_all_there_is(crawls: Crawls, site_with: Callable[..., SmallSite]) -> None:
    site = site_with(pages=5)
    site.answers["/5"] = (404, {}, b"")
    done = crawls.run(site.url, "--delay", "0", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found.keys() >= OWN_KEYS
    assert (found["status"], found["pages"], found["failed"], found["resumed"]) == ("complete", 5, 1, False)
    assert found["database"] == str(crawls.out / "crawl.sqlite3")
    assert crawls.rows("SELECT count(*) FROM crawled_documents") == [(found["pages"],)]
    assert list(Path(found["archive"]).iterdir())
    once = site.counts()
    said = crawls.run(site.url, "--delay", "0")
    assert said.returncode == 0
    assert said.stdout.startswith("Complete already: 5 pages")
    assert "HTTP 404, e.g. " + site.url + "5" in said.stdout
    assert site.counts() == once
    again = crawls.json(site.url, "--delay", "0", "--again")
    assert (again["pages"], again["pages_this_run"], again["resumed"]) == (5, 5, True)
    assert site.counts() == {path: 2 * count for path, count in once.items()}


def test_interrupted_it_is_saved_and_resumes(crawls: Crawls, site_with: Callable[..., SmallSite]) -> None:
    site = site_with(pages=40, seconds_per_page=0.02)
    running = crawls.start(site.url, "--delay", "0")
    site.wait_until_asked(10)
    second = crawls.run(site.url)
    assert second.returncode == 1
    assert f"is in use by process {running.pid}" in second.stderr
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 130
    assert crawls.rows("SELECT status FROM crawl_jobs") == [("paused",)]
    assert crawls.rows("SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL") == [(0,)]
    stopped_at = site.counts().total()
    found = crawls.json(site.url, "--delay", "0")
    assert (found["pages"], found["resumed"]) == (41, True)
    assert found["pages_this_run"] == 41 - stopped_at
    assert set(site.counts().values()) == {1}


def test_killed_it_resumes_at_once_and_no_host_is_asked_too_early(
    crawls: Crawls, site_with: Callable[..., SmallSite]
) -> None:
    site = site_with(pages=8)
    running = crawls.start(site.url, "--delay", "0.2")
    site.wait_until_asked(5)
    running.kill()
    running.wait()
    found = crawls.json(site.url, "--delay", "0.2")
    assert (found["status"], found["pages"]) == ("complete", 9)
    moments = [moment for moment, _ in site.asked]
    assert min(later - earlier for earlier, later in pairwise(moments)) >= 0.195
    assert crawls.rows("SELECT count(*), count(DISTINCT url_hash) FROM crawled_documents") == [(9, 9)]


def test_the_page_budget_is_exact_over_processes_and_can_grow(
    crawls: Crawls, site_with: Callable[..., SmallSite]
) -> None:
    sites = [site_with(pages=60, address=address) for address in ("127.0.0.1", "127.0.0.2")]
    words = [*(site.url for site in sites), "--delay", "0", "--processes", "2", "--max-pages"]
    found = crawls.json(*words, "55")
    assert (found["status"], found["pages"]) == ("complete", 55)
    assert crawls.rows("SELECT count(*) FROM crawled_documents") == [(55,)]
    more = crawls.json(*words, "70")
    assert (more["pages"], more["pages_this_run"], more["resumed"]) == (70, 15, True)
    assert sum(site.counts().total() for site in sites) == 70


def test_a_process_that_dies_is_replaced(crawls: Crawls, site_with: Callable[..., SmallSite]) -> None:
    sites = [site_with(pages=30, address=address, seconds_per_page=0.05) for address in ("127.0.0.1", "127.0.0.2")]
    running = crawls.start(*(site.url for site in sites), "--delay", "0", "--processes", "2", "--quiet")
    for site in sites:
        site.wait_until_asked(5)
    victim = children_of(running.pid)[0]
    os.kill(victim, signal.SIGKILL)
    assert running.wait(60) == 0
    assert crawls.rows("SELECT count(*) FROM crawled_documents") == [(62,)]


def test_asked_to_stop_its_processes_stop_too(crawls: Crawls, site_with: Callable[..., SmallSite]) -> None:
    site = site_with(pages=200, seconds_per_page=0.05)
    running = crawls.start(site.url, "--delay", "0", "--processes", "2")
    site.wait_until_asked(5)
    processes = children_of(running.pid)
    assert len(processes) == 2
    running.send_signal(signal.SIGTERM)
    assert running.wait(30) == 143
    assert not any(exists(process) for process in processes)
    assert crawls.rows("SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL") == [(0,)]


def test_a_domain_left_alone_makes_it_incomplete(crawls: Crawls, site_with: Callable[..., SmallSite]) -> None:
    other, parked = site_with(pages=3), site_with(pages=3)
    assert crawls.json(other.url, "--max-pages", "1")["queued"] == 3  # what is left of another crawl is no concern
    parked.answers["/robots.txt"] = (503, {}, b"")
    done = crawls.run(parked.url, "--delay", "0")
    assert done.returncode == 3
    assert "Incomplete" in done.stdout
    assert "robots.txt: HTTP 503" in done.stdout
    assert "To resume: crawler crawl" in done.stdout
    assert not parked.counts()


def test_a_private_seed_is_refused_with_the_setting_that_allows_it(crawls: Crawls) -> None:
    crawls.platform.settings.pop("FETCH_ALLOWED_NETWORKS")
    done = crawls.run("http://127.0.0.1:1/")
    assert done.returncode == 1
    assert "Not one page could be fetched." in done.stdout
    assert "FETCH_ALLOWED_NETWORKS=127.0.0.1/32" in done.stdout


@pytest.mark.postgresql
def test_without_a_folder_the_platforms_database_is_used(
    platform: Platform, site_with: Callable[..., SmallSite]
) -> None:
    site = site_with(pages=3)
    platform.settings["FETCH_ALLOWED_NETWORKS"] = "127.0.0.0/8"
    words = ("crawl", site.url, "--delay", "0", "--json")
    done = platform.run(*words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["pages"] == 4
    assert found["archive"] == str(platform.home / "archive")
    assert json.loads(platform.run(*words).stdout)["pages_this_run"] == 0


NEW_CRAWL = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.project.settings"
import django
django.setup()
from crawler.crawls import actions
actions.start_crawl(actions.create_crawl("for the workers", sys.argv[1:], {"crawl_delay_ms": 0}, {}))
"""


@pytest.mark.postgresql
def test_workers_crawl_what_is_due(platform: Platform, site_with: Callable[..., SmallSite]) -> None:
    sites = [site_with(pages=3, address=address) for address in ("127.0.0.1", "127.0.0.2")]
    platform.settings["FETCH_ALLOWED_NETWORKS"] = "127.0.0.0/8"
    assert platform.run("migrate").returncode == 0
    script = [*platform.command[:1], "-c", NEW_CRAWL, *(site.url for site in sites)]
    subprocess.run(script, env=platform.environment, check=True, timeout=60)
    running = platform.start("worker", "--processes", "2")
    for site in sites:
        site.wait_until_asked(5)
    assert running.stop() == 0
    assert all(set(site.counts().values()) == {1} for site in sites)


def children_of(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in found]
