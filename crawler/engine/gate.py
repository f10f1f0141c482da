"""The gate: may this URL enter the frontier, may it be fetched now, may this page's links be followed?

One gate for one crawl. It decides and does nothing else: no I/O, no clock; every "no" is a ``Refusal`` with its reason.

- ``admit`` is asked once for each URL that is new (or was refused for a reason that is not final). Final reasons come
  before those of the link, so a URL that can never be fetched is not asked about again. Counted traps come last, so
  only what is otherwise admitted counts.
- ``admit_redirect`` is asked for each hop before it is requested. A hop has to be in scope like any URL, but neither
  ``nofollow`` nor the counters look at it: it is the same page, not a find.
- ``may_fetch`` is asked right before every request of a page, hops included: budgets and robots.txt. Budgets are asked
  for only here: what is found stays in the frontier, and a crawl whose budget is raised goes on.
- Trap counters belong to a domain and live with its claim: ``open_domain`` with what was saved, ``close_domain`` to
  save. For URLs of domains that are not open here only the form of the URL itself is looked at; whoever has claimed
  such a domain counts its URLs with ``recount`` when it takes them up.
- Seeds are asked for by name, so they pass nofollow and traps; see ``scope`` for the rest.

Robots' words on pages: ``nofollow`` (``none``) closes all links of the page. ``noindex``, ``noarchive`` and a date of
expiry that has passed do not keep us from storing a page, as storing is not publishing; they are told as flags, for
whoever shows documents to others. A crawl that does not respect robots hears none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from crawler.engine.refusals import Reason, Refusal
from crawler.engine.scope import Scope
from crawler.engine.traps import HostNames, TrapCounters, TrapLimits, shape_refusal
from crawler.engine.traps.limits import DEFAULT_LIMITS
from crawler.web.directives import UNRESTRICTED, RobotsDirectives
from crawler.web.robots import Robots, path_of_url
from crawler.web.robots.paths import ROBOTS_PATH

DEFAULT_MAX_REDIRECTS: Final = 5


@dataclass(slots=True)
class Budget:
    """Pages that may be fetched of ``what`` (``the crawl``, a domain); a limit of None is no limit."""

    what: str
    limit: int | None = None
    used: int = 0

    def refusal(self) -> Refusal | None:
        if self.limit is None or self.used < self.limit:
            return None
        return Refusal(Reason.BUDGET, f"{self.limit} pages of {self.what}")


class PageVerdict(NamedTuple):
    """``follow`` refuses the page's links, or is None; ``flags`` are what to note with the stored page."""

    follow: Refusal | None
    flags: tuple[str, ...]


_OPEN_PAGE: Final = PageVerdict(None, ())
_NO_ROBOTS_YET: Final = Refusal(Reason.ROBOTS_UNREACHABLE, "not fetched yet")


class Gate:
    __slots__ = (
        "_counters_by_domain", "_hosts", "_limits", "_max_redirects", "_respects_nofollow", "_respects_robots",
        "_scope", "_user_agent",
    )  # fmt: skip

    def __init__(
        self,
        scope: Scope,
        *,
        user_agent: str,
        respect_robots: bool = True,
        respect_nofollow: bool = True,
        max_redirects: int = DEFAULT_MAX_REDIRECTS,
        limits: TrapLimits = DEFAULT_LIMITS,
        hosts: HostNames | None = None,
    ) -> None:
        self._scope = scope
        self._user_agent = user_agent
        self._respects_robots = respect_robots
        self._respects_nofollow = respect_nofollow
        self._max_redirects = max_redirects
        self._limits = limits
        self._hosts = hosts or HostNames(limits)
        self._counters_by_domain: dict[str, TrapCounters] = {}

    def open_domain(self, domain: str, saved: dict[str, Any] | None = None) -> None:
        """From now on URLs of this domain are counted, on top of what ``close_domain`` gave last time."""
        counters = TrapCounters.from_dict(saved, self._limits) if saved else TrapCounters(self._limits)
        self._counters_by_domain[domain] = counters

    def close_domain(self, domain: str) -> dict[str, Any]:
        """What the domain has shown so far, ready for JSON, to open it with next time."""
        counters = self._counters_by_domain.pop(domain, None)
        return counters.as_dict() if counters else {}

    def admit(
        self, url: str, domain: str, depth: int, now: float, *, nofollow: bool = False, is_seed: bool = False
    ) -> Refusal | None:
        """May this URL enter the frontier? ``url`` as it would be fetched, ``domain`` its canonical_domain."""
        if is_seed:
            refusal = self._too_long(url) or self._scope.refusal(url, domain, depth, is_seed=True)
            if refusal is None:
                self.recount(url, domain)
            return refusal
        refusal = self._refusal_of_target(url, domain, depth, now)
        if refusal is not None:
            return refusal
        if nofollow and self._respects_nofollow:
            return Refusal(Reason.NOFOLLOW, "")
        return self.recount(url, domain)

    def admit_redirect(
        self, chain: Sequence[str], url: str, domain: str, depth: int, now: float, *, is_seed: bool = False
    ) -> Refusal | None:
        """May this hop be followed? ``chain`` has the URLs requested so far, meta refreshes included, oldest first."""
        if (refusal := self.hop_refusal(chain, url)) is not None:
            return refusal
        if is_seed:
            return self._too_long(url) or self._scope.refusal(url, domain, depth, is_seed=True)
        return self._refusal_of_target(url, domain, depth, now)

    def hop_refusal(self, chain: Sequence[str], url: str) -> Refusal | None:
        """Loops and lengths alone, for hops to another spelling of the URL that was asked for."""
        if url in chain:
            return Refusal(Reason.REDIRECT_LOOP, url)
        if len(chain) > self._max_redirects:
            return Refusal(Reason.REDIRECT_LIMIT, f"more than {self._max_redirects} redirects")
        return None

    def recount(self, url: str, domain: str) -> Refusal | None:
        """The counted traps alone, for URLs that somebody else admitted without counting."""
        counters = self._counters_by_domain.get(domain)
        return counters.refusal(url) if counters is not None else None

    def may_fetch(self, url: str, robots: Robots | None, budgets: Iterable[Budget] = ()) -> Refusal | None:
        """May this URL be requested now? ``robots`` is the record of the URL's origin; None when there is none yet."""
        for budget in budgets:
            if refusal := budget.refusal():
                return refusal
        if not self._respects_robots:
            return None
        return robots_refusal(url, robots, self._user_agent)

    def page_verdict(self, meta: RobotsDirectives, header: RobotsDirectives, now: float) -> PageVerdict:
        """What the page's meta tags and its X-Robots-Tag let us do with it."""
        if not self._respects_robots or (meta is UNRESTRICTED and header is UNRESTRICTED):
            return _OPEN_PAGE
        return page_verdict(meta | header, now)

    def _refusal_of_target(self, url: str, domain: str, depth: int, now: float) -> Refusal | None:
        if len(url) > self._limits.url_characters:
            return self._too_long(url)
        refusal = self._scope.refusal(url, domain, depth)
        if refusal is not None and refusal.is_final:
            return refusal
        return shape_refusal(url, now, self._limits) or refusal or self._host_refusal(domain)

    def _host_refusal(self, domain: str) -> Refusal | None:
        return None if self._scope.names(domain) else self._hosts.refusal(domain)

    def _too_long(self, url: str) -> Refusal | None:
        most = self._limits.url_characters
        return Refusal(Reason.URL_TOO_LONG, f"{len(url)} characters, at most {most}") if len(url) > most else None


def robots_refusal(url: str, robots: Robots | None, user_agent: str) -> Refusal | None:
    """What robots.txt says about the URL: the rule as the file has it and its line, in the detail."""
    if robots is None:
        return _NO_ROBOTS_YET
    if robots.availability == "unreachable" or robots.defer:
        return _stay_away(url, robots)
    if robots.availability == "absent":
        return None
    verdict = robots.verdict(user_agent, url)
    if verdict.allowed:
        return None
    return Refusal(Reason.ROBOTS, f"{verdict.rule}, line {verdict.line}")


def page_verdict(directives: RobotsDirectives, now: float) -> PageVerdict:
    if directives is UNRESTRICTED:
        return _OPEN_PAGE
    noted = {
        "noindex": directives.noindex,
        "noarchive": directives.nocache,
        "noai": directives.noai,
        "noimageindex": directives.noimageindex,
        "unavailable": directives.is_unavailable(datetime.fromtimestamp(now, UTC)),
    }
    follow = Refusal(Reason.META_ROBOTS, "nofollow") if directives.nofollow else None
    return PageVerdict(follow, tuple(name for name, holds in noted.items() if holds))


def _stay_away(url: str, robots: Robots) -> Refusal | None:
    if path_of_url(url) == ROBOTS_PATH:
        return None
    told = "it asks us to come later" if robots.availability != "unreachable" else "it did not answer as it should"
    again = f"; asked again after {robots.expires_at:%Y-%m-%d %H:%M} UTC" if robots.expires_at else ""
    return Refusal(Reason.ROBOTS_UNREACHABLE, told + again)
