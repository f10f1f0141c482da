"""The robots.txt that holds for a URL, as it was last read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from crawler.domains.models import RobotsRecord
from crawler.engine.contract import RobotsFile, origin_of
from crawler.engine.gate import robots_refusal
from crawler.engine.refusals import Refusal
from crawler.engine.robots import RobotsRules
from crawler.web.hosts import canonical_domain
from crawler.web.robots import Robots


@dataclass(frozen=True, slots=True)
class OriginRobots:
    """`record` and `rules` are None when it was never read."""

    origin: str
    record: RobotsRecord | None
    rules: Robots | None

    def is_fresh(self, now: datetime) -> bool:
        return self.record is not None and now < self.record.expires_at

    def refusal(self, url: str, user_agent: str) -> Refusal | None:
        """What the last copy says about the URL; nothing when there is none."""
        return robots_refusal(url, self.rules, user_agent) if self.rules else None

    def parks(self, now: datetime) -> bool:
        """Nothing of the origin is fetched until its robots.txt was asked for again."""
        return self.rules is not None and self.rules.availability == "unreachable" and self.is_fresh(now)

    @property
    def answer(self) -> str:
        """`robots.txt answered 503`, or why it did not."""
        if self.record is None:
            return "robots.txt was not read yet"
        if self.record.http_status is not None:
            return f"robots.txt answered {self.record.http_status}"
        return f"robots.txt could not be read: {self.record.error or 'no answer'}"


def robots_for(url: str) -> OriginRobots:
    """`url` as it is fetched."""
    origin = origin_of(url)
    kept = RobotsRecord.objects.filter(domain=canonical_domain(url), origin=origin).order_by("-id").first()
    return OriginRobots(origin, kept, _rules_of(kept) if kept else None)


def _rules_of(kept: RobotsRecord) -> Robots:
    fetched, expires = kept.fetched_at.timestamp(), kept.expires_at.timestamp()
    file = RobotsFile(kept.origin, fetched, expires, kept.http_status, bytes(kept.body), kept.error)
    return RobotsRules(file).rules
