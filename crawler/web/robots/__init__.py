"""What a robots.txt lets a crawler do, by RFC 9309.

``Robots.parse`` reads a file, ``Robots.from_response`` also knows what each HTTP status means. Neither raises, whatever
the bytes; both read at most 500 KiB and drop the line that this cuts. ``verdict`` takes a full URL or a bare path, as
it would be sent (resolved, dots removed). Where the RFC leaves a choice:

- A user agent is a product token or a whole User-Agent header; its group is the one of the same token, ignoring case.
  ``foo-news`` does not obey ``foo``. Several names may be given at once: their groups are merged. Otherwise ``*``.
- The rule with the most octets wins, on a tie the allowing one. ``/robots.txt`` itself is always allowed.
- 2xx is read; 4xx means there are no rules; 5xx, no answer, and a redirect that was not followed to an end (RFC: "MAY
  assume unavailable"; we do not) mean stay away. 429 is free like any 4xx, but ``defer`` asks to come back later.
- A crawl-delay is the largest that the matching groups name. What a crawler can bear is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from crawler.web.robots.matching import ALLOWED, Matcher, Verdict
from crawler.web.robots.paths import (
    ROBOTS_PATH,
    canonical_path,
    canonical_path_of_url,
    governs,
    is_product_token,
    path_of_url,
    robots_url_for,
)
from crawler.web.robots.reading import (
    MAX_BYTES,
    Group,
    Reading,
    RequestRate,
    VisitTime,
    longest_delay,
    product_token,
    read,
)

__all__ = [
    "KEPT",
    "KEPT_WHEN_DEFERRED",
    "MAX_BYTES",
    "RequestRate",
    "Robots",
    "Verdict",
    "VisitTime",
    "canonical_path",
    "governs",
    "is_product_token",
    "path_of_url",
    "product_token",
    "robots_url_for",
]

KEPT: Final = timedelta(hours=24)  # RFC 9309 §2.4: no longer than this
KEPT_WHEN_DEFERRED: Final = timedelta(hours=1)  # Ask again soon where the answer was a failure.

MAX_LISTED_RULES: Final = 20_000  # of all groups in ``as_dict``; sharing agents could multiply a file without end
_MAX_MATCHERS: Final = 64

UserAgent = str | Iterable[str] | None  # a token or header, several of them, or a robot without a name
Availability = Literal["read", "absent", "unreachable"]


class Robots:
    """The rules of one host. Made by ``parse`` or ``from_response``; does not change afterwards."""

    __slots__ = ("_matchers", "_reading", "availability", "defer", "expires_at", "fetched_at")

    def __init__(
        self,
        reading: Reading,
        *,
        availability: Availability = "read",
        defer: bool = False,
        fetched_at: datetime | None = None,
    ) -> None:
        self._reading = reading
        self._matchers: dict[str | tuple[str, ...] | None, Matcher] = {}
        self.availability = availability
        self.defer = defer  # Visit nothing on this host before its robots.txt was asked for again.
        self.fetched_at = fetched_at
        kept = KEPT_WHEN_DEFERRED if defer else KEPT
        self.expires_at = None if fetched_at is None else fetched_at + kept

    @classmethod
    def parse(cls, body: bytes | str) -> Robots:
        """The rules in a file that was fetched successfully."""
        return cls(read(body))

    @classmethod
    def from_response(cls, status: int | None, body: bytes | str | None, *, fetched_at: datetime) -> Robots:
        """The rules that the answer after all redirects stands for; a status of None or 0 says that there was none."""
        if status and 200 <= status < 300:
            return cls(read(body or b""), fetched_at=fetched_at)
        if status and 400 <= status < 500:
            return cls(read(b""), availability="absent", defer=status == 429, fetched_at=fetched_at)
        closed = read("User-agent: *\nDisallow: /")
        return cls(closed, availability="unreachable", defer=True, fetched_at=fetched_at)

    def verdict(self, user_agent: UserAgent, url: str) -> Verdict:
        """May this robot fetch this URL (or path), and by which rule?"""
        path = canonical_path_of_url(url)
        if path == ROBOTS_PATH:
            return ALLOWED
        return self._matcher(user_agent).verdict(path)

    def crawl_delay(self, user_agent: UserAgent) -> float | None:
        """Seconds that this robot is asked to leave between two requests."""
        settings = [setting for group in self._groups(user_agent) for setting in group.settings]
        return longest_delay(*(setting.crawl_delay for setting in settings))

    def request_rate(self, user_agent: UserAgent) -> RequestRate | None:
        """The first request-rate that this robot is asked to keep."""
        rates = (setting.request_rate for group in self._groups(user_agent) for setting in group.settings)
        return next((rate for rate in rates if rate), None)

    def visit_time(self, user_agent: UserAgent) -> VisitTime | None:
        """The first time of day in which this robot is asked to come."""
        times = (setting.visit_time for group in self._groups(user_agent) for setting in group.settings)
        return next((time for time in times if time), None)

    @property
    def sitemaps(self) -> list[str]:
        """Sitemap addresses as written, in order, each once; they may be relative or of another host."""
        return list(self._reading.sitemaps)

    @property
    def host(self) -> str | None:
        """The host name the site prefers, if it names one."""
        return self._reading.host

    def as_dict(self) -> dict[str, Any]:
        """What the robots endpoint of the crawl API shows, without the domain; ready for JSON."""
        return {
            "fetched_at": _timestamp(self.fetched_at),
            "expires_at": _timestamp(self.expires_at),
            "rules": {"user_agents": self._user_agents(), "sitemaps": self.sitemaps},
        }

    def _user_agents(self) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        room = MAX_LISTED_RULES
        for group in self._reading.groups_by_token.values():
            rules = group.rules()[: max(room, 0)]
            room -= len(rules) + 1
            shown[group.name] = {
                "allow": [rule.value for rule in rules if rule.allow],
                "disallow": [rule.value for rule in rules if not rule.allow],
                "crawl_delay": _whole_if_possible(longest_delay(*(each.crawl_delay for each in group.settings))),
            }
            if room <= 0:
                break
        return shown

    def _matcher(self, user_agent: UserAgent) -> Matcher:
        key = user_agent if user_agent is None or isinstance(user_agent, str) else tuple(user_agent)
        matcher = self._matchers.get(key)
        if matcher is None:
            if len(self._matchers) >= _MAX_MATCHERS:
                self._matchers.clear()
            matcher = self._matchers[key] = Matcher(rule for group in self._groups(key) for rule in group.rules())
        return matcher

    def _groups(self, user_agent: UserAgent) -> list[Group]:
        by_token = self._reading.groups_by_token
        names = [user_agent] if isinstance(user_agent, str) else list(user_agent or ())
        # Those who send just what the file says are meant by it, whatever their product is called.
        found = [by_token.get(name.strip().lower()) or by_token.get(product_token(name)) for name in names]
        named = [group for group in found if group]
        return named or [by_token[token] for token in ("*",) if token in by_token]


def _timestamp(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    in_utc = moment.astimezone(UTC) if moment.tzinfo else moment
    return in_utc.strftime("%Y-%m-%dT%H:%M:%SZ")


def _whole_if_possible(seconds: float | None) -> float | int | None:
    return int(seconds) if seconds is not None and seconds.is_integer() else seconds
