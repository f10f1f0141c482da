"""kill -9 in the middle of what is done in bulk: the next run completes it, nothing is lost, nothing is done twice."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler.archive import open_reader
from tests.faults.bot_bulk import POLICIES
from tests.faults.crawl_checks import records_in
from tests.faults.crawl_processes import CrawlProcesses

pytestmark = pytest.mark.postgresql

URLS, NEGLECTED, PULLED = 50_000, 2_000, 400
MOMENTS = ("before", "in the middle", "after")


class BulkProcesses(CrawlProcesses):
    program = "tests.faults.bot_bulk"

    def survive(self, command: str, **options: Any) -> None:
        """Must come to its end."""
        assert self.do(command, **options) == 0, self.log

    def kill(self, command: str, **options: Any) -> None:
        """Must not."""
        assert self.do(command, **options) == -signal.SIGKILL, f"{options} {self.log}"


@pytest.fixture
def bulk(tmp_path: Path) -> Iterator[BulkProcesses]:
    with BulkProcesses(tmp_path) as made:
        made.survive("set_up")
        yield made


def deaths(seed: int, statements: int) -> Iterator[dict[str, Any]]:
    """One of each kind, at one of so many statements."""
    chance = random.Random(seed)
    for moment in MOMENTS:
        yield {"at_statement": chance.randint(1, statements), "moment": moment}


def test_fifty_thousand_urls_through_many_deaths(bulk: BulkProcesses) -> None:
    import_urls(bulk)
    schedule(bulk)
    expire(bulk)


def import_urls(bulk: BulkProcesses) -> None:
    for death in deaths(1, statements=20):
        bulk.kill("import_urls", count=URLS, **death)
        assert bulk.one("SELECT count(*) FROM product_urls") < URLS
        assert bulk.one("SELECT count(*) FROM product_urls WHERE next_due_at IS NULL") == 0
    bulk.survive("import_urls", count=URLS)
    assert bulk.one("SELECT count(*) FROM product_urls WHERE next_due_at IS NOT NULL") == URLS
    assert bulk.one("SELECT count(*) FROM domains") == len(POLICIES)


# A URL is due, or it has a job: never both, never neither.
TORN = (
    "SELECT count(*) FROM product_urls LEFT JOIN (SELECT DISTINCT product_url_hash FROM bot_jobs"
    " WHERE status IN ('pending', 'locked', 'expired')) AS busy ON busy.product_url_hash = url_hash"
    " WHERE (next_due_at IS NULL) <> (busy.product_url_hash IS NOT NULL)"
)


def schedule(bulk: BulkProcesses) -> None:
    for death in deaths(2, statements=6):
        bulk.kill("schedule", batch=URLS // 10, **death)
        assert bulk.one(TORN) == 0
        assert bulk.one("SELECT count(*) FROM bot_jobs") < URLS
    bulk.survive("schedule", batch=URLS // 10)
    assert bulk.one(TORN) == 0
    assert bulk.one("SELECT count(DISTINCT product_url_hash) FROM bot_jobs WHERE status = 'pending'") == URLS
    assert bulk.one("SELECT count(*) FROM bot_jobs") == URLS


def expire(bulk: BulkProcesses) -> None:
    bulk.survive("neglect", count=NEGLECTED)
    for death in deaths(3, statements=8):
        bulk.kill("expire", batch=NEGLECTED // 4, **death)
        assert bulk.one(TORN) == 0
        assert bulk.one("SELECT count(*) FROM bot_jobs WHERE status = 'locked'") > 0
    bulk.survive("expire", batch=NEGLECTED // 4)
    ended = bulk.rows("SELECT status, retry_count, count(*) FROM bot_jobs WHERE fence = 1 GROUP BY 1, 2 ORDER BY 1")
    assert ended == [("expired", 0, NEGLECTED), ("failed", 1, NEGLECTED), ("pending", 1, NEGLECTED)]
    assert bulk.one(TORN) == 0
    streaks = dict(bulk.rows("SELECT failure_streak, count(*) FROM product_urls GROUP BY 1"))
    assert streaks == {0: URLS - NEGLECTED, 1: NEGLECTED}, "each final failure was counted once"


def test_pages_rest_before_their_rows(bulk: BulkProcesses) -> None:
    bulk.survive("import_urls", count=PULLED * 3)
    bulk.survive("schedule", batch=PULLED * 3)
    bulk.survive("pull", count=PULLED)
    for death in ({"in_write": 1}, {"in_write": 3}, *deaths(4, statements=8)):
        bulk.kill("answer", **death)
        assert_every_page_is_there(bulk)
        assert bulk.one("SELECT count(*) FROM crawl_results") < PULLED
    bulk.survive("answer")
    assert_every_page_is_there(bulk)
    assert bulk.one("SELECT count(*) FROM crawl_results") == PULLED
    for file in bulk.archive.glob("*.warc.gz"):
        assert records_in(file) > 0, "every file reads from beginning to end"


def assert_every_page_is_there(bulk: BulkProcesses) -> None:
    read = open_reader(bulk.archive)
    rows = bulk.rows(
        "SELECT crawl_results.title, storage_path, status FROM crawl_results JOIN bot_jobs ON bot_jobs.id = job_id"
    )
    for title, path, status in rows:
        assert read(path).body.decode() == f"<p>{title}</p>"
        assert status == "done"
    assert bulk.one("SELECT count(*) FROM bot_jobs WHERE status = 'done'") == len(rows)
