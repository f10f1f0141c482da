"""A site's robots.txt: fetched before anything else of its origin, kept, asked again when it is too old."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime
from typing import Final

from crawler.engine.contract import CrawlRules, RobotsFile
from crawler.engine.reading import body_of
from crawler.fetch.outcome import Failure, Request, Response
from crawler.web import robots, urls
from crawler.web.robots import Robots

MAX_HOPS: Final = 5
TIMEOUT_SECONDS: Final = 20.0
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

Answer = Response | Failure


class RobotsRules:
    """One origin's rules as the engine uses them, with what is stored of them."""

    __slots__ = ("file", "rules")

    def __init__(self, file: RobotsFile) -> None:
        self.file = file
        fetched_at = datetime.fromtimestamp(file.fetched_at, UTC)
        self.rules = Robots.from_response(file.status, file.body, fetched_at=fetched_at)

    @property
    def parks(self) -> bool:
        """Nothing of the origin may be fetched until its robots.txt was asked for again."""
        return self.rules.defer

    def is_fresh(self, now: float) -> bool:
        return now < self.file.expires_at


def fetch_robots(
    origin: str, rules: CrawlRules, now: float, before: RobotsFile | None
) -> Generator[Request, Answer, tuple[RobotsFile, Failure | None]]:
    """Follows up to five redirects, wherever they lead; the rules hold for the origin that was asked.

    The failure is told beside the file when no server answered.
    """
    url = robots.robots_url_for(origin) or f"{origin}/robots.txt"
    for _ in range(MAX_HOPS + 1):
        headers = (("User-Agent", rules.user_agent), *rules.headers_for(url))
        answer = yield Request(
            url, headers, timeout_seconds=TIMEOUT_SECONDS, max_body_bytes=robots.MAX_BYTES * 2, proxy=rules.proxy
        )
        if isinstance(answer, Failure):
            return _kept(RobotsFile(origin, now, now, None, b"", answer.message), before, now), answer
        if answer.status not in REDIRECTS or not answer.location:
            body = body_of(answer, robots.MAX_BYTES * 2).content if 200 <= answer.status < 300 else b""
            return _kept(RobotsFile(origin, now, now, answer.status, body[: robots.MAX_BYTES]), before, now), None
        try:
            url = urls.resolve(answer.location, url)
        except urls.InvalidURL:
            break
    return _kept(RobotsFile(origin, now, now, None, b"", "redirected without end"), before, now), None


def _kept(file: RobotsFile, before: RobotsFile | None, now: float) -> RobotsFile:
    """With its expiry. While the server fails, a copy of less than a day still counts (RFC 9309 §2.3.1.4)."""
    found = RobotsRules(file)
    kept = robots.KEPT_WHEN_DEFERRED if found.rules.defer else robots.KEPT
    expires_at = now + kept.total_seconds()
    usable = before is not None and before.status is not None and before.status < 500
    if found.parks and before is not None and usable and now < before.fetched_at + robots.KEPT.total_seconds():
        return before._replace(expires_at=min(expires_at, before.fetched_at + robots.KEPT.total_seconds()))
    return file._replace(expires_at=expires_at)
