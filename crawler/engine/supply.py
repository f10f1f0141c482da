"""What there is to do: the crawls that run, the domains that are ours, and which URL of a domain is next."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from crawler.engine.contract import Claimed, CrawlRules, Ending, Store, StoreUnavailable, Validators
from crawler.engine.crawling import Crawling
from crawler.engine.robots import RobotsRules
from crawler.engine.site import Site
from crawler.fetch.politeness import HostClock, Rules, SavedClock
from crawler.frontier.contract import Entry

FEWEST_TAKEN: Final = 10
MOST_TAKEN: Final = 500


class Supply:
    """`urls_in_memory` bounds what is taken ahead, over all sites."""

    def __init__(self, store: Store, drop_params: frozenset[str], urls_in_memory: int) -> None:
        self.store = store
        self.drop_params = drop_params
        self.urls_in_memory = urls_in_memory
        self.crawls: dict[int, Crawling] = {}
        self.allowances: dict[int, int] = {}  # of crawls that do not run at the moment
        self.sites: dict[str, Site] = {}
        self.validators: dict[str, Validators] = {}

    # Crawls.

    def refresh_crawls(self) -> None:
        """Crawls come, go, and change their rules while we work."""
        running = self.store.running_crawls()
        for gone in [number for number in self.crawls if number not in running]:
            self.allowances[gone] = self.crawls.pop(gone).allowance
        for number, rules in running.items():
            if number not in self.crawls or self.crawls[number].rules != rules:
                self._take_up(rules)
            elif self.crawls[number].is_spent:  # others may have given pages of the budget back
                self.crawls[number].allow_more(self.store.reserve)

    def _take_up(self, rules: CrawlRules) -> None:
        """What it had set aside of its budget before is still set aside."""
        before = self.crawls.get(rules.id)
        crawling = self.crawls[rules.id] = Crawling(rules, self.drop_params)
        crawling.allowance = before.allowance if before else self.allowances.pop(rules.id, 0)
        for name, site in self.sites.items():
            crawling.gate.open_domain(name, site.claimed.traps_by_crawl.get(rules.id))

    def open_crawls(self) -> list[int]:
        """Those whose page budget is not used up."""
        return [number for number, crawling in self.crawls.items() if not crawling.is_spent]

    # Sites.

    def open_site(self, claimed: Claimed) -> Site:
        site = Site(claimed, HostClock(claimed.name, Rules()))
        self.sites[claimed.name] = site
        for number, crawling in self.crawls.items():
            crawling.gate.open_domain(claimed.name, claimed.traps_by_crawl.get(number))
        with suppress(StoreUnavailable):  # it is ours all the same; its URLs come with the first look at it
            self.refill(site)
        for robots in site.robots_by_origin.values():
            self.heed_crawl_delay(site, robots)
        # Somebody may have asked this host a moment ago and died before saying so; the first claim ever cannot have.
        if claimed.fence > 1:
            saved = SavedClock(claimed.next_request_at, claimed.backoff_level)
            site.clock.restore(saved, self.store.now())
        return site

    def ending_of(self, site: Site) -> Ending:
        seen = {number: crawling.gate.close_domain(site.name) for number, crawling in self.crawls.items()}
        return site.ending({number: counters for number, counters in seen.items() if counters})

    # URLs.

    def refill(self, site: Site) -> None:
        """Take more URLs. What the batch has found is in the frontier only after its commit."""
        limit = max(FEWEST_TAKEN, min(MOST_TAKEN, self.urls_in_memory // max(1, len(self.sites))))
        entries = self.store.take(site.name, self.open_crawls(), limit, skip=site.taken)
        site.has_more = len(entries) == limit
        if entries:
            self.validators.update(self.store.validators(entries))
            site.queue.extend(entries)
            site.taken.update(entry.id for entry in entries)
            self._heed_rules(site)

    def next_entry(self, site: Site) -> Entry | None:
        """The next URL that may be fetched, paid for from its crawl's budget."""
        if site.stopped or site.fetching_robots:
            return None
        if not site.queue and site.has_more:
            self.refill(site)
        while site.queue:
            entry = site.queue[0]
            crawling = self.crawls.get(entry.crawl_id)
            # One refusal is enough: the rest of a long queue does not ask the store again.
            is_wanted = crawling is not None and not crawling.is_spent and crawling.spend_one(self.store.reserve)
            site.queue.popleft()
            if is_wanted:
                return entry
            site.taken.discard(entry.id)
        return None

    def put_back(self, site: Site, entry: Entry) -> None:
        site.queue.appendleft(entry)
        self.crawls[entry.crawl_id].return_one()

    # Manners.

    def _heed_rules(self, site: Site) -> None:
        """The strictest of the crawls that want something of this site, or did since it was claimed: what they have
        found may not be committed yet."""
        site.crawls.update(entry.crawl_id for entry in site.queue)
        rules = [self.crawls[number].politeness for number in self.open_crawls() if number in site.crawls]
        if len(rules) == 1:
            site.clock.rules = rules[0]
        elif rules:
            site.clock.rules = Rules(
                delay_seconds=max(one.delay_seconds for one in rules), per_host=min(one.per_host for one in rules)
            )

    def heed_crawl_delay(self, site: Site, robots: RobotsRules) -> None:
        agents = [crawling.rules.user_agent for crawling in self.crawls.values() if crawling.rules.respect_robots]
        delays = [robots.rules.crawl_delay(agent) or 0.0 for agent in agents]
        site.clock.crawl_delay_seconds = max([site.clock.crawl_delay_seconds, *delays])
