"""The worker behind the SDK's loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crawler.integrations.client import Bot, Event, Failure, Job, Result, Summary
from crawler.integrations.price_worker.handling import PriceHandler
from crawler.integrations.price_worker.manners import Manners
from crawler.integrations.price_worker.pages import Pages

GRACE_SECONDS = 15.0  # for pages under way when asked to stop


class Outcome(NamedTuple):
    """Something to tell people: an event of the SDK, with the price where there is one."""

    kind: str
    url: str
    detail: str


def run(
    bot: Bot,
    manners: Manners,
    *,
    workers: int = 32,
    domain: str | None = None,
    until_idle: bool = False,
    sends_html: bool = False,
    tell: Callable[[Outcome], None] = lambda outcome: None,
) -> Summary:
    """Works until SIGTERM or SIGINT, or until nothing is left; then gives back what was not begun.

    Raises what the SDK raises, AuthenticationError first of all.
    """
    with Pages(manners, on_broken=bot.stop) as pages:
        watch = _Watch(pages, PriceHandler(pages, sends_html=sends_html), tell)
        summary = bot.run(
            watch.handle,
            workers,
            domain=domain,
            until_idle=until_idle,
            grace_seconds=GRACE_SECONDS,
            on_event=watch.on_event,
        )
    if pages.broken is not None:
        raise pages.broken
    return summary


class _Watch:
    """Remembers prices until the server has them, to tell them then."""

    def __init__(self, pages: Pages, handler: PriceHandler, tell: Callable[[Outcome], None]) -> None:
        self.pages = pages
        self.handler = handler
        self.tell = tell
        self.prices: dict[str, str] = {}  # by job

    def handle(self, job: Job) -> Result | Failure:
        answer = self.handler(job)
        if isinstance(answer, Result):
            self.prices[job.job_id] = f"{answer.price} {answer.currency}"
        return answer

    def on_event(self, event: Event) -> None:
        if event.kind == "stopping":
            self.pages.stop()
        price = self.prices.pop(event.job.job_id, "") if event.job else ""
        detail = price if event.kind == "done" else event.detail
        self.tell(Outcome(event.kind, event.job.url if event.job else "", detail))
