"""A crawl whose queue is in Redis ends as one whose queue is in the database, whatever happens to Redis meanwhile."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler.crawls.models import FrontierURL
from crawler.domains.models import Domain
from crawler.frontier.mirrored import MirroredFrontier
from tests.conformance.frontier_backends import redis_client
from tests.faults.engine_site import Reply
from tests.plugin import REDIS_URL
from tests.unit.engine.in_process import LIMITS, crawling, page

pytestmark = pytest.mark.django_db(transaction=True)  # the second half of a change follows its commit

PAGES = 30


def chain() -> dict[str, Reply]:
    """Every page leads to the next and to two of the others, so that the queue is short and often asked for."""
    paths = {f"/{n}": page(f"/{n + 1}", f"/{(n * 7) % PAGES}", text=f"page {n}") for n in range(PAGES)}
    return {"/": page("/0"), **paths}


def emptied(client: Any) -> None:
    client.flushdb()


def left_alone(client: Any) -> None:
    pass


@pytest.mark.parametrize("mishap", [left_alone, emptied])
def test_the_queue_is_in_redis(tmp_path: Path, settings: Any, mishap: Callable[[Any], None]) -> None:
    settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, redis_url=REDIS_URL)
    client = redis_client()
    with crawling(tmp_path, chain()) as crawl:
        crawl.create()
        assert client.keys("*") or FrontierURL.objects.count() == 1
        turns = iter(range(10_000))

        def now_and_then() -> bool:
            if next(turns) % 7 == 3:
                mishap(client)
            return False

        crawl.run(now_and_then, limits=dataclasses.replace(LIMITS, batch_pages=3))
    assert isinstance(crawl.store.frontier, MirroredFrontier)
    assert crawl.documents() == {"/", *(f"/{n}" for n in range(PAGES))}
    assert Domain.objects.get().frontier_size == 0
    crawl.crawl.refresh_from_db()
    assert (crawl.crawl.pages_crawled, crawl.crawl.pages_queued) == (PAGES + 1, 0)
