"""How many host names a site may have: wildcard DNS answers to any."""

from __future__ import annotations

from typing import Any

from crawler.engine.refusals import Reason, Refusal
from crawler.engine.traps.limits import DEFAULT_LIMITS, TrapLimits
from crawler.web.hosts import registrable_domain


class HostNames:
    """The domains that a crawl has met, by registrable domain. Addresses and names without one are not counted.

    Where there are too many to remember, sites with the fewest names are forgotten: they are counted anew.
    """

    __slots__ = ("_domains_by_site", "_limits", "_remembered")

    def __init__(self, limits: TrapLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._domains_by_site: dict[str, set[str]] = {}
        self._remembered = 0

    def refusal(self, domain: str) -> Refusal | None:
        """Judges a domain, known or not, and counts it unless it is refused."""
        site = registrable_domain(domain)
        if site is None:
            return None
        domains = self._domains_by_site.setdefault(site, set())
        if domain in domains:
            return None
        if len(domains) >= self._limits.hosts_of_site:
            return Refusal(Reason.REGISTRABLE_DOMAIN, f"{len(domains)} host names of {site}")
        domains.add(domain)
        self._remembered += 1
        if self._remembered > self._limits.remembered_hosts:
            self._make_room()
        return None

    def as_dict(self) -> dict[str, Any]:
        return {site: sorted(domains) for site, domains in self._domains_by_site.items()}

    @classmethod
    def from_dict(cls, saved: dict[str, Any], limits: TrapLimits = DEFAULT_LIMITS) -> HostNames:
        names = cls(limits)
        names._domains_by_site = {site: set(domains) for site, domains in saved.items()}
        names._remembered = sum(map(len, names._domains_by_site.values()))
        return names

    def _make_room(self) -> None:
        largest_first = sorted(self._domains_by_site.items(), key=lambda item: -len(item[1]))
        self._domains_by_site.clear()
        self._remembered = 0
        for site, domains in largest_first:
            if self._remembered + len(domains) > self._limits.remembered_hosts // 2:
                break
            self._domains_by_site[site] = domains
            self._remembered += len(domains)
