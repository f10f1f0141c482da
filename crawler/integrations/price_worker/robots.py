"""The robots.txt of every origin: asked for before its first page, kept as long as it holds."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

from crawler.engine.contract import RobotsFile, origin_of
from crawler.engine.gate import robots_refusal
from crawler.engine.refusals import Reason
from crawler.engine.robots import RobotsRules, fetch_robots
from crawler.fetch.outcome import Failure, FailureKind, Request, Response
from crawler.integrations.price_worker.hosts import Hosts
from crawler.integrations.price_worker.manners import Manners
from crawler.integrations.price_worker.reasons import Unfetched, of_failure
from crawler.web.hosts import canonical_domain

MOST_KEPT = 10_000
UNASKED_SECONDS = 3600.0


class Meanwhile(NamedTuple):
    """Somebody else is asking for this origin's robots.txt: go on when it is there."""

    origin: str


Step = Request | Meanwhile
Answer = Response | Failure


class RobotsOfAll:
    def __init__(self, manners: Manners, hosts: Hosts, now: Callable[[], float]) -> None:
        self.manners = manners
        self.hosts = hosts
        self.now = now
        self.by_origin: dict[str, RobotsRules] = {}
        self.asked_for: set[str] = set()
        self.answered: list[str] = []  # origins whose robots.txt is not asked for any more

    def judge(self, url: str) -> Generator[Step, Answer, None]:
        """Returns when the URL may be fetched, else raises Unfetched with the rule that forbids it."""
        rules = yield from self._rules_of(origin_of(url))
        refusal = robots_refusal(url, rules.rules, self.manners.user_agent)
        if refusal is None:
            return
        if refusal.reason is Reason.ROBOTS:
            raise Unfetched(f"robots.txt forbids it: {refusal.detail}")
        why = f"HTTP {rules.file.status}" if rules.file.status else rules.file.error or "no answer"
        raise Unfetched(f"robots.txt cannot be read ({why}), so nothing may be fetched: {refusal.detail}")

    def _rules_of(self, origin: str) -> Generator[Step, Answer, RobotsRules]:
        while True:
            known = self.by_origin.get(origin)
            if known is not None and known.is_fresh(self.now()):
                return known
            if origin not in self.asked_for:
                break
            yield Meanwhile(origin)
        self.asked_for.add(origin)
        try:
            before = known.file if known else None
            file, failure = yield from fetch_robots(origin, self.manners.for_robots, self.now(), before)
            return self._keep(file, failure)
        finally:
            self.asked_for.discard(origin)
            self.answered.append(origin)

    def _keep(self, file: RobotsFile, failure: Failure | None) -> RobotsRules:
        if failure is not None and failure.is_hosts_fault:
            raise of_failure(failure, self.manners, "robots.txt: ")  # not kept: the next one asks again
        if failure is not None and failure.kind in (FailureKind.GUARD, FailureKind.URL):
            # Nobody was asked; the page's own request is refused with the reason.
            file = file._replace(status=404, expires_at=self.now() + UNASKED_SECONDS)
        rules = RobotsRules(file)
        if len(self.by_origin) >= MOST_KEPT:
            self.by_origin.clear()
        self.by_origin[file.origin] = rules
        host = self.hosts.of(canonical_domain(file.origin), self.now())
        host.heed_crawl_delay(rules.rules.crawl_delay(self.manners.user_agent), self.now())
        return rules
