"""A crawl from start to end, in order."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.cli.crawling import opening
from crawler.cli.crawling.order import Order
from crawler.cli.crawling.place import CANNOT_WRITE, Lock
from crawler.cli.crawling.stopping import Stop
from crawler.cli.problems import fail

if TYPE_CHECKING:
    from crawler.cli.crawling.crew import Crew
    from crawler.cli.crawling.figures import Figures
    from crawler.cli.crawling.summary import Ending, Result
    from crawler.cli.crawling.watching import View
    from crawler.crawls.models import Crawl, CrawlRun


@dataclass(frozen=True, slots=True)
class Manner:
    """How the command behaves, whatever it crawls."""

    out: Path | None = None
    processes: int = 1
    again: bool = False
    as_json: bool = False
    quiet: bool = False


def run(order: Order, manner: Manner) -> int:
    """The exit code."""
    began = time.monotonic()
    stop = Stop()
    stop.install()
    home, lock = opening.open_place(manner.out, order)
    opening.load_django()
    from django.db import Error

    from crawler.archive import ArchiveUnavailable
    from crawler.cli.crawling.crew import CrewLost
    from crawler.engine.contract import StoreUnavailable

    try:
        result = _Crawling(order, manner, stop, home, lock, began).result()
    except (StoreUnavailable, ArchiveUnavailable, Error) as error:
        fail(f"cannot go on: {str(error).strip()}; the same command resumes", CANNOT_WRITE)
    except CrewLost as error:
        fail(f"{error}; what they wrote is in {home / 'logs' / 'crawl.log'}; the same command resumes")
    tell(result, manner)
    return result.exit_code


def tell(result: Result, manner: Manner) -> None:
    if manner.as_json:
        print(json.dumps(result.to_json()), flush=True)
    elif not manner.quiet:
        print(result.to_text(), flush=True)


class _Crawling:
    """One go at a crawl."""

    def __init__(self, order: Order, manner: Manner, stop: Stop, home: Path, lock: Lock, began: float) -> None:
        self.order, self.manner, self.stop, self.began = order, manner, stop, began
        self.home, self.lock = home, lock

    def result(self) -> Result:
        from crawler.crawls import resuming

        resuming.release_dead_claims(f"{self.lock.mark}:")
        crawl = opening.find_crawl(self.order)
        if resuming.is_complete(crawl) and not self.manner.again:
            return self._sum_up(crawl, None, None)
        return self._work(crawl, resuming.take_up(crawl, again=self.manner.again))

    def _work(self, crawl: Crawl, run: CrawlRun) -> Result:
        from crawler.cli.crawling.screens import screen_for
        from crawler.cli.crawling.watching import Watcher

        crew = self._crew(crawl)
        self.stop.at_once = crew.kill
        startup_seconds = time.monotonic() - self.began
        screen = screen_for(quiet=self.manner.quiet or self.manner.as_json)
        with Watcher(screen, self._looker(crawl, crew)):
            crew.work(self.stop)
        seconds = time.monotonic() - self.began
        return self._sum_up(crawl, run, crew.figures(), seconds, startup_seconds)

    def _crew(self, crawl: Crawl) -> Crew:
        from crawler.cli.crawling.crew import OneWorker, Processes

        if self.manner.processes == 1:
            return OneWorker(crawl.pk, f"{self.lock.mark}:1")
        return Processes(crawl.pk, self.manner.processes, self.lock, self.home / "logs" / "crawl.log")

    def _looker(self, crawl: Crawl, crew: Crew) -> Callable[[float], View]:
        from crawler.cli.crawling.figures import Figures, sum_of
        from crawler.cli.crawling.watching import Rate, View

        before = Figures(crawl.pages_crawled, crawl.pages_failed, crawl.pages_refused, 0, crawl.bytes_downloaded)
        rate = Rate()
        started = time.monotonic()

        def look(now: float) -> View:
            run = crew.figures()
            seconds = now - started
            return View(
                self.order.title, sum_of([before, run]), run, now - self.began, rate(now, run.pages),
                run.pages / seconds if seconds > 0 else 0.0, self.order.max_pages, self.stop(),
            )  # fmt: skip

        return look

    def _sum_up(
        self,
        crawl: Crawl,
        run: CrawlRun | None,
        figures: Figures | None,
        seconds: float = 0.0,
        startup_seconds: float = 0.0,
    ) -> Result:
        from crawler.cli.crawling.figures import Figures
        from crawler.cli.crawling.summary import Result
        from crawler.crawls.review import review

        was_started = crawl.runs.count() > 1
        self._settle(crawl)
        found = review(crawl, run)
        return Result(
            ending=self._ending(crawl),
            review=found,
            run=figures or Figures(),
            job_id=crawl.job_id,
            resumed=was_started,
            was_complete=run is None,
            seconds=seconds or time.monotonic() - self.began,
            startup_seconds=startup_seconds,
            database=opening.database(),
            archive=opening.archive(),
            command=shlex.join(["crawler", *sys.argv[1:]]),
            out=str(self.manner.out or ""),
            stop_code=self.stop.exit_code,
        )

    def _settle(self, crawl: Crawl) -> None:
        """A crawl that is not over is left as one that can be taken up again."""
        from crawler.crawls.actions import interrupt_crawl

        why = signal.Signals(self.stop.signal).name if self.stop() else "what is left is not due yet"
        interrupt_crawl(crawl, why)

    def _ending(self, crawl: Crawl) -> Ending:
        from crawler.cli.crawling.summary import Ending
        from crawler.crawls.states import CrawlStatus

        if crawl.status == CrawlStatus.COMPLETED:
            return Ending.COMPLETE if crawl.pages_crawled else Ending.FAILED
        return Ending.INTERRUPTED if self.stop() else Ending.INCOMPLETE
