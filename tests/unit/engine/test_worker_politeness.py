"""When a host is asked: by the worker's clock, and by what the site saw."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.faults.engine_site import Asked, Reply
from tests.unit.engine.in_process import Crawling, Once, Replies, crawling, page

pytestmark = pytest.mark.django_db

TEN = [f"/{number}" for number in range(10)]


def ten_pages(robots: str = "", **more: Reply | Callable[[Asked], Reply]) -> Replies:
    site: dict[str, Any] = {"/": page(*TEN), "/robots.txt": Reply(robots, headers={"Content-Type": "text/plain"})}
    return (
        site | {path: page(text=f"the page at {path}") for path in TEN} | {f"/{path}": it for path, it in more.items()}
    )


def waits(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


def pauses(crawl: Crawling) -> list[float]:
    return waits(crawl.times())


class Turnstile:
    """Answers only when as many requests as expected are there, or after a moment; remembers the most at once."""

    def __init__(self, expected: int) -> None:
        self.expected, self.inside, self.most = expected, 0, 0
        self.full = threading.Condition()

    def __call__(self, asked: Asked) -> Reply:
        with self.full:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.full.notify_all()
            self.full.wait_for(lambda: self.inside >= self.expected, timeout=0.05)
            self.inside -= 1
        return page(text=f"the page at {asked.path}")


@pytest.mark.parametrize("per_host", [1, 3])
def test_so_many_requests_in_flight_for_a_host(tmp_path: Path, per_host: int) -> None:
    turnstile = Turnstile(expected=per_host + 1)
    with crawling(tmp_path, {"/": page(*TEN)} | dict.fromkeys(TEN, turnstile)) as crawl:
        crawl.create(per_host=per_host)
        crawl.run()
    assert turnstile.most == per_host
    assert crawl.documents() == {"/", *TEN}


def test_the_delay_is_kept(tmp_path: Path) -> None:
    with crawling(tmp_path, ten_pages()) as crawl:
        crawl.create(crawl_delay_ms=2500, adaptive=False)
        crawl.run()
    assert len(pauses(crawl)) == 11
    assert min(pauses(crawl)) >= 2.5


def test_hosts_do_not_wait_for_each_other(tmp_path: Path) -> None:
    with crawling(tmp_path, ten_pages(), "127.0.0.1", "127.0.0.2") as crawl:
        crawl.create(*(crawl.site.url("/", host) for host in ("127.0.0.1", "127.0.0.2")), crawl_delay_ms=10_000)
        crawl.run()
    assert len(crawl.asked_at) == 2 * 12
    assert crawl.times()[-1] - crawl.times()[0] < 12 * 10, "one after the other it would take twice as long"


@pytest.mark.parametrize(("asked_for", "kept"), [("7", 7.0), ("0.5", 1.0), ("86400", 300.0)])
def test_robots_crawl_delay(tmp_path: Path, asked_for: str, kept: float) -> None:
    """At most 300 s; and the configuration's own delay is never cut short. It holds from the robots.txt on."""
    with crawling(tmp_path, ten_pages(f"User-agent: *\nCrawl-delay: {asked_for}\n")) as crawl:
        crawl.create(crawl_delay_ms=1000, adaptive=False)
        crawl.run()
    assert crawl.documents() == {"/", *TEN}
    assert all(kept <= pause < 2 * kept for pause in pauses(crawl))


def test_a_crawl_that_ignores_robots_asks_for_none(tmp_path: Path) -> None:
    with crawling(tmp_path, ten_pages("User-agent: *\nDisallow: /\n")) as crawl:
        crawl.create(respect_robots_txt=False)
        crawl.run()
    assert crawl.documents() == {"/", *TEN}
    assert crawl.times("/robots.txt") == []


def later(status: int, seconds: str | None = None) -> Reply:
    return Reply("later", status, {} if seconds is None else {"Retry-After": seconds})


def in_an_hour() -> str:
    return format_datetime(datetime.fromtimestamp(datetime.now(UTC).timestamp() + 3600, UTC), usegmt=True)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("told", "at_least", "at_most"),
    [
        ("120", 120, 125),
        ("date", 3590, 3605),
        ("999999999", 6 * 3600, 6 * 3600 + 5),
        ("nonsense", 5, 10),
        (None, 5, 10),
    ],
)
def test_retry_after(tmp_path: Path, status: int, told: str | None, at_least: float, at_most: float) -> None:
    """The whole host is left alone, then the URL is asked for again: nothing is lost."""
    told = in_an_hour() if told == "date" else told
    busy = Once(later(status, told), page(text="now it is there"))
    with crawling(tmp_path, {"/": page("/busy", "/other"), "/busy": busy, "/other": page(text="other")}) as crawl:
        crawl.create()
        crawl.run()
    assert crawl.documents() == {"/", "/busy", "/other"}
    turned_away = crawl.times("/busy")[0]
    after = [at for at, _ in crawl.asked_at if at > turned_away]
    assert at_least <= after[0] - turned_away < 2 * at_least, "nothing is asked of the host before"
    assert crawl.outcomes("/busy") == ["failed", "page"]
    assert crawl.crawl.runs.get().pages_failed == 0


def level(wait: float) -> int:
    """5 s and more are level 1, 10 s and more level 2, and so on."""
    return int(wait // 5).bit_length()


def test_pushed_back_again_and_again_and_recovered(tmp_path: Path) -> None:
    """The wait doubles with every 503 in a row, and with every good answer it halves for the next time."""
    busy, moody = Once(later(503), page("/1", "/2", "/moody"), times=4), Once(later(503), page(text="well"))
    with crawling(tmp_path, ten_pages(busy=busy, moody=moody)) as crawl:
        crawl.create("/busy")
        crawl.run()
    assert crawl.documents() == {"/busy", "/1", "/2", "/moody"}
    assert [level(wait) for wait in waits(crawl.times("/busy"))] == [1, 2, 3, 4]
    assert [level(wait) for wait in waits(crawl.times("/moody"))] == [2], "four up, three down, one up"


def test_the_clock_survives_a_restart(tmp_path: Path) -> None:
    busy = Once(later(429, "500"), page(text="now"))
    with crawling(tmp_path, {"/": page("/busy", "/other"), "/busy": busy, "/other": page(text="other")}) as crawl:
        crawl.create()
        crawl.run(lambda: crawl.times("/busy"), until_done=False)
        turned_away = crawl.times("/busy")[0]
        crawl.run(name="another")
    after = [at for at, _ in crawl.asked_at if at > turned_away]
    assert after[0] - turned_away >= 500
    assert crawl.documents() == {"/", "/busy", "/other"}


def test_a_slow_host_is_asked_less_often(tmp_path: Path) -> None:
    """Where the delay adapts: five times what an answer takes."""
    gate = threading.Event()

    def slow(asked: Asked) -> Reply:
        gate.wait(0.05)
        return page(text=asked.path)

    with crawling(tmp_path, {"/": page(*TEN[:3])} | dict.fromkeys(TEN[:3], slow)) as crawl:
        crawl.create(crawl_delay_ms=10)
        crawl.run()
    assert all(pause >= 5 * 0.05 for pause in pauses(crawl)[-2:])
