"""A batch that names a job more than once: one answer counts, and what is kept is of that answer only."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings

from crawler.archive import open_reader
from crawler.bots.models import CrawlResult
from tests.api.bots import Bot, make_jobs

pytestmark = pytest.mark.django_db


def found(job: dict[str, Any], title: str, **more: Any) -> dict[str, Any]:
    return {"job_id": job["job_id"], "success": True, "price": 1, "currency": "EUR", "title": title, **more}


def submit(bot: Bot, *results: dict[str, Any]) -> list[tuple[int, str | None]]:
    lines = bot.post("submit/batch", {"results": results}).json()["data"]["results"]
    return [(line["status_code"], line.get("error")) for line in lines]


def test_the_page_is_that_of_the_answer_that_counts() -> None:
    bot = Bot()
    make_jobs(2)
    one, two = bot.pull()
    said = submit(
        bot,
        found(one, "first"),
        found(one, "second", raw_html="<p>second</p>"),
        found(two, "third", raw_html="<p>third</p>"),
        found(two, "fourth", raw_html="<p>fourth</p>"),
    )
    assert said == [(201, None), (400, "job_not_locked")] * 2
    kept = dict(CrawlResult.objects.values_list("title", "storage_path"))
    assert kept.keys() == {"first", "third"}
    assert kept["first"] is None
    assert open_reader(settings.CRAWLSPACE.archive_url)(kept["third"] or "").body == b"<p>third</p>"


def test_a_wrong_fence_does_not_spoil_the_right_one() -> None:
    bot = Bot()
    make_jobs(2)
    one, two = bot.pull()
    said = submit(
        bot,
        found(one, "old", fence=0),
        found(one, "new", fence=1),
        found(one, "again", fence=1),
        found(two, "old", fence=7),
        found(two, "unfenced"),
    )
    old, accepted, again = (403, "not_assigned"), (201, None), (400, "job_not_locked")
    assert said == [old, accepted, again, old, accepted]
    assert set(CrawlResult.objects.values_list("title", flat=True)) == {"new", "unfenced"}


def test_each_wrong_answer_is_told_why() -> None:
    bot = Bot()
    make_jobs(1)
    (job,) = bot.pull()
    assert submit(bot, found(job, "a", fence=0), found(job, "b", fence=2)) == [(403, "not_assigned")] * 2
    assert CrawlResult.objects.count() == 0
    assert submit(bot, found(job, "c", fence=1)) == [(201, None)]
