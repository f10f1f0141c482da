"""The crawl worker: one plain loop that keeps many domains busy.

    claim domains -> take their URLs -> ask when politeness allows -> read -> batch -> secure the archive, commit

A visit is a generator that yields requests and gets answers; the loop decides when each request may start. The next
request of a host is on its way before the last answer is parsed. Every second or 200 pages what there is becomes one
commit. Nothing has to be cleaned up after a crash: what was not committed is still pending.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Any

from crawler.archive.contract import Archive
from crawler.engine import steps
from crawler.engine.committing import Committer
from crawler.engine.contract import (
    Batch,
    Claimed,
    Committed,
    Ending,
    Outcome,
    PageOutcome,
    RobotsFile,
    Store,
    StoreUnavailable,
)
from crawler.engine.crawling import Crawling
from crawler.engine.near import COMPARED_DOCUMENTS, NearPages
from crawler.engine.pages import PageFlow
from crawler.engine.progress import Progress
from crawler.engine.robots import RobotsRules, fetch_robots, origin_of
from crawler.engine.site import Rota, Site
from crawler.engine.sitemaps import as_entry, named_in, priority_of, read_sitemaps
from crawler.fetch.client import Fetcher
from crawler.fetch.outcome import Failure, FailureKind, Request, Response
from crawler.fetch.politeness import HostClock, Rules, SavedClock
from crawler.frontier.contract import Entry
from crawler.web.headers import retry_after
from crawler.web.sitemaps import SitemapEntry

log = logging.getLogger(__name__)

Answer = Response | Failure


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a worker takes on, and how often it looks up."""

    sites: int = 2500
    claims_at_once: int = 500
    urls_in_memory: int = 20_000
    batch_pages: int = 200
    batch_seconds: float = 1.0
    control_seconds: float = 1.0
    renew_seconds: float = 600.0
    in_flight: int = 1000
    worth_waiting_seconds: float = 60.0  # for a URL that is due later, before its domain is given back
    stop_seconds: float = 5.0  # for answers under way when asked to stop
    full_disk_seconds: float = 5.0


@dataclass(slots=True)
class Ticket:
    """A request under way, and the visit that waits for it."""

    site: Site
    visit: Generator[Request, Answer, Any]
    done: Callable[[Site, Any], None]


class Worker:
    """`run` works until `stop` says so, or, with `until_done`, until nothing is left."""

    def __init__(
        self,
        store: Store,
        fetcher: Fetcher,
        archive: Archive,
        *,
        drop_params: frozenset[str],
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.store = store
        self.fetcher = fetcher
        self.drop_params = drop_params
        self.limits = limits or Limits()
        self.progress = progress or Progress()
        self.crawls: dict[int, Crawling] = {}
        self.sites: dict[str, Site] = {}
        self.rota = Rota()
        self.committer = Committer(
            store, archive, batch_pages=self.limits.batch_pages, batch_seconds=self.limits.batch_seconds,
            patience_seconds=self.limits.full_disk_seconds,
        )  # fmt: skip
        self.flow = PageFlow(archive, lambda: self.committer.batch, store.now)
        self.validators: dict[str, Any] = {}
        self.controlled_at = -1e9
        self.renewed_at = monotonic()
        self.nothing_to_claim = False
        self.was_released = False

    # The loop.

    def run(self, stop: Callable[[], bool], *, until_done: bool = False) -> None:
        while not stop():
            self._control()
            if until_done and self._is_done():
                break
            self._start_due()
            for ticket, answer in self.fetcher.wait(self._patience()):
                self._answered(ticket, answer)
            if self.committer.due_in <= 0:
                self._commit()
        self._wind_down()

    def _patience(self) -> float:
        """How long there is nothing to do but wait for answers."""
        if self.was_released:  # there may be room for others, or an end
            self.was_released = False
            return 0.0
        sites = self.rota.next_at() - self.store.now() if not self.committer.paused else float("inf")
        return max(0.0, min(self.limits.control_seconds, sites, self.committer.due_in))

    def _is_done(self) -> bool:
        """Nothing is in work here, nothing can be claimed, and nobody else may still find something for us."""
        if self.sites or self.committer.has_news:
            return False
        self.store.finish_idle_crawls()
        self._control(at_once=True)
        return not self.crawls or (not self.sites and self.nothing_to_claim and not self.store.others_at_work())

    # Control: which crawls run, which domains are ours.

    def _control(self, *, at_once: bool = False) -> None:
        if not at_once and monotonic() - self.controlled_at < self.limits.control_seconds:
            return
        self.controlled_at = monotonic()
        try:
            self._refresh_crawls()
            self._renew()
            self._claim()
        except StoreUnavailable as error:
            log.warning("the store cannot be reached: %s", error)

    def _refresh_crawls(self) -> None:
        running = self.store.running_crawls()
        self.progress.queued = self.store.queued
        for gone in [number for number in self.crawls if number not in running]:
            del self.crawls[gone]
        for number, rules in running.items():
            if number not in self.crawls or self.crawls[number].rules != rules:
                self.crawls[number] = Crawling(rules, self.drop_params)
                for name, site in self.sites.items():
                    self.crawls[number].gate.open_domain(name, site.claimed.traps_by_crawl.get(number))

    def _renew(self) -> None:
        if monotonic() - self.renewed_at < self.limits.renew_seconds:
            return
        for name in self.store.renew([site.claimed for site in self.sites.values()]):
            self._lose(name)
        self.renewed_at = monotonic()

    def _lose(self, name: str) -> None:
        log.warning("lost the claim on a domain; its uncommitted work is dropped", extra={"domain": name})
        if (site := self.sites.pop(name, None)) is not None:
            site.stop()

    def _claim(self) -> None:
        room = min(self.limits.sites - len(self.sites), self.limits.claims_at_once)
        if room <= 0 or not self.crawls or self.committer.paused:
            return
        claimed = self.store.claim(room)
        self.nothing_to_claim = not claimed
        for one in claimed:
            self._open(one)
        if len(claimed) == room:
            self.controlled_at = -1e9  # there may be more

    def _open(self, claimed: Claimed) -> None:
        site = Site(claimed, HostClock(claimed.name, Rules()))
        self.sites[claimed.name] = site
        for number, crawling in self.crawls.items():
            crawling.gate.open_domain(claimed.name, claimed.traps_by_crawl.get(number))
        self._refill(site)
        for robots in site.robots_by_origin.values():
            self._heed_crawl_delay(site, robots)
        # Somebody may have asked this host a moment ago and died before saying so; the first claim ever cannot have.
        if claimed.fence > 1:
            saved = SavedClock(claimed.next_request_at, claimed.backoff_level)
            site.clock.restore(saved, self.store.now())
        self.rota.add(site, site.clock.ready_at)

    # Which URL is next.

    def _open_crawls(self) -> list[int]:
        return [number for number, crawling in self.crawls.items() if not crawling.is_spent]

    def _refill(self, site: Site) -> None:
        """Take more URLs. What the batch has found is in the frontier only after its commit."""
        limit = max(10, min(500, self.limits.urls_in_memory // max(1, len(self.sites))))
        entries = self.store.take(site.name, self._open_crawls(), limit, skip=site.taken)
        site.has_more = len(entries) == limit
        if entries:
            site.queue.extend(entries)
            site.taken.update(entry.id for entry in entries)
            self.validators.update(self.store.validators(entries))
            self._heed_rules(site)

    def _heed_rules(self, site: Site) -> None:
        """The strictest of the crawls that want something of this site."""
        wanted = {entry.crawl_id for entry in site.queue}
        rules = [crawling.politeness for number, crawling in self.crawls.items() if number in wanted]
        if len(rules) == 1:
            site.clock.rules = rules[0]
        elif rules:
            site.clock.rules = Rules(
                delay_seconds=max(one.delay_seconds for one in rules), per_host=min(one.per_host for one in rules)
            )

    def _heed_crawl_delay(self, site: Site, robots: RobotsRules) -> None:
        agents = [c.rules.user_agent for c in self.crawls.values() if c.rules.respect_robots]
        delays = [robots.rules.crawl_delay(agent) or 0.0 for agent in agents]
        site.clock.crawl_delay_seconds = max([site.clock.crawl_delay_seconds, *delays])

    def _start_due(self) -> None:
        if self.committer.paused:
            return
        now = self.store.now()
        while self.fetcher.in_flight < self.limits.in_flight and (site := self.rota.pop_due(now)) is not None:
            self._start_next(site, now)

    def _start_next(self, site: Site, now: float) -> None:
        """Start as many requests as the clock allows now."""
        while self.sites.get(site.name) is site:
            if site.clock.ready_at > now:
                self.rota.add(site, site.clock.ready_at)
                return
            if not self._start_one(site, now):
                return self._settle(site)

    def _start_one(self, site: Site, now: float) -> bool:
        """Start one request, or settle one URL without any. False when the site has nothing to start."""
        if site.follow_ups:
            ticket, request = site.follow_ups.popleft()
            self._send(site, ticket, request, now)
            return True
        entry = self._next_entry(site)
        if entry is None:
            return False
        crawling = self.crawls[entry.crawl_id]
        if crawling.rules.respect_robots:
            robots = self._robots_for(site, entry, crawling, now)
            if robots is None:
                return True
            refusal = crawling.gate.may_fetch(entry.url, robots.rules)
            if refusal is not None:
                self._finished(site, self.flow.refused(entry, crawling, refusal, None, now))
                return True
        self._begin(site, self._page_ticket(site, entry, crawling), now)
        return True

    def _next_entry(self, site: Site) -> Entry | None:
        if site.stopped or site.fetching_robots:
            return None
        if not site.queue and site.has_more:
            self._refill(site)
        while site.queue:
            entry = site.queue.popleft()
            crawling = self.crawls.get(entry.crawl_id)
            if crawling is not None and crawling.spend_one(self.store.reserve):
                return entry
            site.taken.discard(entry.id)
        return None

    # Robots.

    def _robots_for(self, site: Site, entry: Entry, crawling: Crawling, now: float) -> RobotsRules | None:
        """The rules for this URL. None when they are being fetched, or forbid everything: the URL waits."""
        origin = origin_of(entry.url)
        robots = site.robots_by_origin.get(origin)
        if robots is not None and robots.is_fresh(now) and not robots.parks:
            return robots
        site.queue.appendleft(entry)
        crawling.return_one()
        if robots is not None and robots.is_fresh(now):
            self._park(site, robots)
        else:
            site.fetching_robots.add(origin)
            visit = fetch_robots(origin, crawling.rules, now, robots.file if robots else None)
            self._begin(site, Ticket(site, visit, self._got_robots), now)
        return None

    def _got_robots(self, site: Site, found: tuple[RobotsFile, Failure | None]) -> None:
        file, failure = found
        site.fetching_robots.discard(file.origin)
        if failure is not None and failure.kind in (FailureKind.GUARD, FailureKind.URL):
            file = file._replace(status=404)  # the page's own request is refused with the reason
        elif failure is not None and failure.is_hosts_fault:
            return  # asked again, until it answers or the host is found to be unreachable
        robots = site.robots_by_origin[file.origin] = RobotsRules(file)
        self.committer.add_robots(site.name, file)
        self._heed_crawl_delay(site, robots)
        if site.clock.crawl_delay_seconds:  # it holds from this answer on
            earliest = self.store.now() + site.clock.delay_seconds()
            site.clock.next_allowed_at = max(site.clock.next_allowed_at, earliest)
        self._want_sitemaps(site, file.origin, robots)

    def _want_sitemaps(self, site: Site, origin: str, robots: RobotsRules) -> None:
        """As often as robots.txt is asked for, which names them."""
        for crawling in self.crawls.values():
            if crawling.rules.use_sitemaps and not robots.parks and crawling.covers(site.name):
                begin = named_in(robots.rules.sitemaps, origin)
                visit = read_sitemaps(begin, crawling.rules, partial(self._met_in_sitemap, site, crawling))
                site.follow_ups.append((Ticket(site, visit, self._read_sitemaps), next(visit)))

    def _met_in_sitemap(self, site: Site, crawling: Crawling, found: SitemapEntry) -> None:
        if crawling.known.get(found.loc) is None:
            entry, priority = as_entry(crawling.rules.id, site.name), priority_of(found)
            crawling.meet(found.loc, entry, self.committer.batch, self.store.now(), by="sitemap", priority=priority)

    def _read_sitemaps(self, site: Site, pages: int) -> None:
        log.info("read sitemaps", extra={"domain": site.name, "pages": pages})

    def _park(self, site: Site, robots: RobotsRules) -> None:
        """Its robots.txt cannot be read: nothing of the domain is fetched until it was asked for again."""
        file = robots.file
        why = f"robots.txt: {f'HTTP {file.status}' if file.status else file.error}"
        log.info("parked", extra={"domain": site.name, "reason": why})
        site.stop(not_before=file.expires_at)
        self.progress.parked[site.name] = why

    # Requests.

    def _page_ticket(self, site: Site, entry: Entry, crawling: Crawling) -> Ticket:
        if site.near is None:
            site.near = NearPages(self.store.fingerprints(site.name, COMPARED_DOCUMENTS))
        before = self.validators.pop(entry.url_hash, None) if self.validators else None
        return Ticket(site, self.flow.visit(entry, crawling, site.near, before), self._finished)

    def _begin(self, site: Site, ticket: Ticket, now: float) -> None:
        self._send(site, ticket, next(ticket.visit), now)

    def _send(self, site: Site, ticket: Ticket, request: Request, now: float) -> None:
        site.clock.began(now)
        site.in_flight += 1
        self.fetcher.start(request, ticket)

    def _answered(self, ticket: Ticket, answer: Answer) -> None:
        site = ticket.site
        site.in_flight -= 1
        now = self.store.now()
        self._tell_clock(site, answer, now)
        # The next request is under way while this answer is read.
        if site.queue and site.clock.ready_at <= now and not self.committer.paused:
            self._start_one(site, now)
        try:
            request = ticket.visit.send(answer)
        except StopIteration as end:
            ticket.done(site, end.value)
        else:
            site.follow_ups.append((ticket, request))
        self._judge_host(site, answer)
        self.rota.add(site, site.clock.ready_at)

    def _tell_clock(self, site: Site, answer: Answer, now: float) -> None:
        if isinstance(answer, Failure):
            site.clock.ended(now, answer.seconds, failed=answer.is_hosts_fault)
            return
        wanted = answer.headers.get("retry-after")
        wait = retry_after(wanted, datetime.fromtimestamp(now, UTC)) if wanted else None
        site.clock.ended(now, answer.seconds, answer.status, wait)

    def _judge_host(self, site: Site, answer: Answer) -> None:
        """Errors in a row, until the domain is left alone for a while."""
        failure = answer if isinstance(answer, Failure) else None
        status = None if isinstance(answer, Failure) else answer.status
        bad = failure.is_hosts_fault if failure else steps.is_hosts_error(status or 0)
        site.consecutive_errors = site.consecutive_errors + 1 if bad else 0
        if bad and (code := steps.block_code(status, failure, site.consecutive_errors)):
            reason = failure.message if failure else f"HTTP {status}, {site.consecutive_errors} errors in a row"
            self._leave_alone(site, code, reason, failure)

    def _leave_alone(self, site: Site, code: str, reason: str, failure: Failure | None) -> None:
        """The URL that could not even be asked for counts as failed; the others stay pending."""
        log.info("left alone", extra={"domain": site.name, "reason": reason})
        head = site.queue[0] if site.queue else None
        if head is not None and failure is not None and not site.pages and head.crawl_id in self.crawls:
            site.queue.popleft()
            self._finished(site, self.flow.given_up(head, self.crawls[head.crawl_id], failure))
        site.block(code, reason)
        self.progress.parked[site.name] = reason

    # Outcomes.

    def _finished(self, site: Site, page: PageOutcome) -> None:
        self.committer.add_page(page)
        self.progress.count(page)
        if page.outcome in (Outcome.PAGE, Outcome.UNCHANGED):
            site.pages += 1
            turn = site.claimed.pages_per_run
            if turn is not None and site.pages >= turn and len(self.sites) >= self.limits.sites:
                site.stop()  # others wait; its turn comes again
        elif (crawling := self.crawls.get(page.entry.crawl_id)) is not None:
            crawling.return_one()

    def _settle(self, site: Site) -> None:
        """Nothing to start. Wait for what is under way; commit what was found; look once more; give it back."""
        if site.is_busy:
            return
        self._commit()
        if self.committer.paused:
            self.rota.add(site, self.store.now() + self.limits.full_disk_seconds)
            return
        if self.sites.get(site.name) is site and not self._has_work(site):
            self._release(site)

    def _has_work(self, site: Site) -> bool:
        if site.stopped:
            return False
        self._refill(site)
        if site.queue:
            self.rota.add(site, max(self.store.now(), site.clock.next_allowed_at))
            return True
        due = self.store.next_due(site.name, self._open_crawls())
        if due is not None and due - self.store.now() <= self.limits.worth_waiting_seconds:
            site.has_more = True
            self.rota.add(site, max(due, site.clock.next_allowed_at))
            return True
        site.not_before = due
        return False

    def _release(self, site: Site) -> None:
        self.was_released = True
        del self.sites[site.name]
        self.store.release([self._ending(site)])

    def _ending(self, site: Site) -> Ending:
        seen = {number: crawling.gate.close_domain(site.name) for number, crawling in self.crawls.items()}
        return site.ending({number: counters for number, counters in seen.items() if counters})

    def _commit(self) -> None:
        if (done := self.committer.commit(self.sites)) is not None:
            self._committed(*done)
        self.progress.paused = self.committer.paused

    def _committed(self, batch: Batch, result: Committed) -> None:
        for crawling in self.crawls.values():
            crawling.learn(batch.found, result.ids)
        for page in batch.pages:
            if (site := self.sites.get(page.entry.domain)) is not None:
                site.taken.discard(page.entry.id)
                site.has_more = site.has_more or page.status == "pending"
        for name in result.lost:
            self._lose(name)
        for name in result.added_by_domain:
            if (site := self.sites.get(name)) is not None:
                site.has_more = True
            else:
                self.controlled_at = -1e9  # a domain to claim

    def _wind_down(self) -> None:
        """Answers under way are waited for shortly, then everything is saved and every claim given back."""
        for site in self.sites.values():
            site.stop()
        until = monotonic() + self.limits.stop_seconds
        while any(site.in_flight for site in self.sites.values()) and monotonic() < until:
            for ticket, answer in self.fetcher.wait(max(0.0, until - monotonic())):
                self._answered(ticket, answer)
        self._commit()
        self.store.release([self._ending(site) for site in self.sites.values()])
        self.sites.clear()
