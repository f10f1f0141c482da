"""What comes before a site's pages: its robots.txt, and the sitemaps that it names."""

from __future__ import annotations

import logging
from functools import partial

from crawler.engine.committing import Committer
from crawler.engine.contract import RobotsFile, origin_of
from crawler.engine.crawling import Crawling
from crawler.engine.progress import Progress
from crawler.engine.robots import RobotsRules, fetch_robots
from crawler.engine.site import Site
from crawler.engine.sitemaps import as_entry, named_in, priority_of, read_sitemaps
from crawler.engine.supply import Supply
from crawler.engine.tickets import Ticket
from crawler.fetch.outcome import Failure, FailureKind
from crawler.frontier.contract import Entry
from crawler.web.sitemaps import SitemapEntry

log = logging.getLogger(__name__)

UNASKED_SECONDS = 3600.0


class Reception:
    """Hands out rules for URLs, or a ticket to fetch them with."""

    def __init__(self, supply: Supply, committer: Committer, progress: Progress) -> None:
        self.supply = supply
        self.committer = committer
        self.progress = progress
        self.now = supply.store.now

    def rules_for(self, site: Site, entry: Entry, crawling: Crawling, now: float) -> RobotsRules | Ticket | None:
        """The rules for this URL, or a ticket to get them, or None when the site is to be left alone meanwhile."""
        origin = origin_of(entry.url)
        robots = site.robots_by_origin.get(origin)
        if robots is not None and robots.is_fresh(now):
            return None if robots.parks and self._park(site, robots) else robots
        site.fetching_robots.add(origin)
        visit = fetch_robots(origin, crawling.rules, now, robots.file if robots else None)
        return Ticket(site, visit, self._got_robots)

    def _park(self, site: Site, robots: RobotsRules) -> bool:
        """Its robots.txt cannot be read: nothing of the domain is fetched until it was asked for again."""
        file = robots.file
        why = f"robots.txt: {f'HTTP {file.status}' if file.status else file.error}"
        log.info("parked", extra={"domain": site.name, "reason": why})
        site.stop(not_before=file.expires_at)
        self.progress.parked[site.name] = why
        return True

    def _got_robots(self, site: Site, found: tuple[RobotsFile, Failure | None]) -> None:
        file, failure = found
        site.fetching_robots.discard(file.origin)
        if failure is not None and failure.kind in (FailureKind.GUARD, FailureKind.URL):
            # Nobody was asked, so nothing is kept; the page's own request is refused with the reason.
            expires_at = self.now() + UNASKED_SECONDS
            site.robots_by_origin[file.origin] = RobotsRules(file._replace(status=404, expires_at=expires_at))
            return
        if failure is not None and failure.is_hosts_fault:
            return  # asked again, until it answers or the host is found to be unreachable
        robots = site.robots_by_origin[file.origin] = RobotsRules(file)
        self.committer.add_robots(site.name, file)
        self.supply.heed_crawl_delay(site, robots)
        if site.clock.crawl_delay_seconds:  # it holds from this answer on
            earliest = self.now() + site.clock.delay_seconds()
            site.clock.next_allowed_at = max(site.clock.next_allowed_at, earliest)
        self._want_sitemaps(site, file.origin, robots)

    def _want_sitemaps(self, site: Site, origin: str, robots: RobotsRules) -> None:
        """As often as robots.txt is asked for, which names them."""
        for crawling in self.supply.crawls.values():
            if crawling.rules.use_sitemaps and not robots.parks and crawling.covers(site.name):
                begin = named_in(robots.rules.sitemaps, origin)
                visit = read_sitemaps(begin, crawling.rules, partial(self._met_in_sitemap, site, crawling))
                site.follow_ups.append((Ticket(site, visit, self._read_sitemaps), next(visit)))

    def _met_in_sitemap(self, site: Site, crawling: Crawling, found: SitemapEntry) -> None:
        if crawling.known.get(found.loc) is None:
            entry, priority = as_entry(crawling.rules.id, site.name), priority_of(found)
            crawling.meet(found.loc, entry, self.committer.batch, self.now(), by="sitemap", priority=priority)

    def _read_sitemaps(self, site: Site, pages: int) -> None:
        log.info("read sitemaps", extra={"domain": site.name, "pages": pages})
