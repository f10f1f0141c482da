"""The crawl worker: one plain loop that keeps many domains busy.

    claim domains -> take their URLs -> ask when politeness allows -> read -> batch -> secure the archive, commit

A visit is a generator that yields requests and gets answers; the loop decides when each request may start. The next
request of a host is on its way before the last answer is parsed. Every second or 200 pages what there is becomes one
commit. Nothing has to be cleaned up after a crash: what was not committed is still pending.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep

from crawler.archive.contract import Archive
from crawler.engine import steps
from crawler.engine.appetite import Appetite
from crawler.engine.committing import Committer
from crawler.engine.contract import Batch, Committed, Outcome, PageOutcome, Store, StoreUnavailable
from crawler.engine.crawling import Crawling
from crawler.engine.limits import Limits
from crawler.engine.lines import Lines
from crawler.engine.near import COMPARED_DOCUMENTS, NearPages
from crawler.engine.pages import PageFlow
from crawler.engine.progress import Progress
from crawler.engine.reception import Reception
from crawler.engine.site import Rota, Site
from crawler.engine.supply import Supply
from crawler.engine.tickets import Answer, Ticket
from crawler.fetch.client import Fetcher
from crawler.fetch.outcome import Failure, Request
from crawler.frontier.contract import Entry

log = logging.getLogger(__name__)


OVERDUE = 1.5  # times the interval of renewals, which is a third of a lease
ANSWERS_A_TURN = 64  # then the loop looks up: hosts are due, batches are full


class Worker:
    """`run` works until `stop` says so, or, with `until_done`, until nothing is left."""

    def __init__(
        self,
        store: Store,
        fetcher: Fetcher | Lines,
        archive: Archive,
        *,
        drop_params: frozenset[str],
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.store = store
        self.fetcher = fetcher
        self.limits = limits or Limits()
        self.progress = progress or Progress()
        self.supply = Supply(store, drop_params, self.limits.urls_in_memory)
        self.sites = self.supply.sites
        self.rota = Rota()
        self.committer = Committer(
            store, archive, batch_pages=self.limits.batch_pages, batch_seconds=self.limits.batch_seconds,
            patience_seconds=self.limits.full_disk_seconds,
        )  # fmt: skip
        self.reception = Reception(self.supply, self.committer, self.progress)
        self.flow = PageFlow(archive, lambda: self.committer.batch, store.now)
        self.appetite = Appetite(self.limits.claims_at_once, shares=self.limits.shares)
        self.inbox: deque[tuple[Ticket, Answer]] = deque()  # answers that came and were not read yet
        self.waiting: dict[str, Site] = {}  # for the commit, to see what it adds for them
        self.controlled_at = -1e9
        self.renewed_at = monotonic()
        self.nothing_to_claim = False

    # The loop.

    def run(self, stop: Callable[[], bool], *, until_done: bool = False) -> None:
        """Whatever ends it, what there is is saved and every claim given back."""
        try:
            while not stop():
                try:
                    # First this: a domain of a crawl whose budget is used up would be claimed again and again.
                    if until_done and self._is_done():
                        break
                    self._control()
                    self._turn()
                except StoreUnavailable as error:
                    log.warning("tried again: %s", error)
                    sleep(self.limits.control_seconds)  # answers wait in the sockets meanwhile
        finally:
            self._wind_down()

    def _turn(self) -> None:
        self._start_due()
        self._receive(0.0 if self.inbox else self._patience())
        for _ in range(min(len(self.inbox), ANSWERS_A_TURN)):
            self._answered(*self.inbox.popleft())
        if self.committer.due_in <= 0 or (self.waiting and self._is_waited_for()):
            self._commit()

    def _patience(self) -> float:
        """How long there is nothing to do but wait for answers."""
        if self.committer.paused:
            return self.committer.due_in
        next_site = self.rota.next_at() - self.store.now()
        soonest = self.limits.waited_for_seconds if self.waiting else self.limits.control_seconds
        idle = 0.0 if self.waiting and not self.fetcher.in_flight and next_site > 0 else soonest
        return max(0.0, min(idle, next_site, self.committer.due_in))

    def _receive(self, seconds: float) -> None:
        """Take what has come, note when it came, and let its hosts be asked again while it waits to be read."""
        began = monotonic()
        came = self.fetcher.wait(seconds)
        self.appetite.waited(monotonic() - began)
        for ticket, answer in came:
            site, now = ticket.site, self.store.now()
            site.note_answer(answer, now)
            self.inbox.append((ticket, answer))
            if site.queue and site.clock.ready_at <= now and self._may_start():
                with suppress(StoreUnavailable):  # it is looked at again when its answer is read
                    self._start_one(site, now)
            else:
                self.rota.add(site, site.clock.ready_at)

    def _may_start(self) -> bool:
        is_room = self.fetcher.in_flight < self.limits.in_flight and len(self.inbox) < self.limits.unread_answers
        return is_room and not self.committer.paused and self._is_awake()

    def _is_awake(self) -> bool:
        """False after a sleep in which the claims may have ended: first they are renewed, or found to be lost."""
        overdue = max(OVERDUE * self.limits.renew_seconds, 2 * self.limits.control_seconds)
        return monotonic() - self.renewed_at < overdue

    def _is_waited_for(self) -> bool:
        """Sites wait for this commit: at once when nothing else goes on, else soon."""
        is_idle = not self.fetcher.in_flight and not self.inbox and self.rota.next_at() > self.store.now()
        return is_idle or monotonic() - self.committer.began >= self.limits.waited_for_seconds

    def _is_done(self) -> bool:
        """Nothing is in work here, nothing can be claimed, and nobody else may still find something for us."""
        if self.sites or self.committer.has_news:
            return False
        self.store.finish_idle_crawls()
        self._control(at_once=True)
        is_idle = not self.sites and self.nothing_to_claim
        return not self.supply.crawls or (is_idle and not self.store.others_at_work())

    # Control: which crawls run, which domains are ours.

    def _control(self, *, at_once: bool = False) -> None:
        if not at_once and monotonic() - self.controlled_at < self.limits.control_seconds:
            return
        self.controlled_at = monotonic()
        self.supply.refresh_crawls()
        self.progress.queued = self.store.queued
        self.fetcher.allow_per_address(max((one.rules.per_host for one in self.supply.crawls.values()), default=1))
        self._renew()
        self._claim()

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
        self._take_back(self.committer.forget(name))

    def _take_back(self, pages: list[PageOutcome]) -> None:
        """What is dropped uses up no budget."""
        for page in pages:
            crawling = self.supply.crawls.get(page.entry.crawl_id)
            if crawling is not None and page.outcome in (Outcome.PAGE, Outcome.UNCHANGED):
                crawling.return_one()

    def _claim(self) -> None:
        room = min(self.limits.sites - len(self.sites), self.appetite.portion(len(self.sites)))
        if room <= 0 or self.committer.paused:
            return
        crawls = self.supply.open_crawls()
        claimed = self.store.claim(room, crawls) if crawls else []
        self.nothing_to_claim = not claimed
        for one in claimed:
            site = self.supply.open_site(one)
            self.rota.add(site, site.clock.ready_at)
        self.appetite.got(len(claimed))
        if len(claimed) == room and not self.limits.shares:
            self.controlled_at = -1e9  # there may be more

    # Starting requests.

    def _start_due(self) -> None:
        now = self.store.now()
        while self._may_start() and (site := self.rota.pop_due(now)) is not None:
            try:
                self._start_next(site, now)
            except StoreUnavailable:
                self.rota.add(site, now)  # else nobody would look at it again
                raise

    def _start_next(self, site: Site, now: float) -> None:
        """Start as many requests as the clock allows now."""
        while self.sites.get(site.name) is site:
            if site.clock.ready_at > now:
                self.rota.add(site, site.clock.ready_at)
                return
            if not self._start_one(site, now):
                if not site.is_busy:
                    self.waiting[site.name] = site
                return

    def _start_one(self, site: Site, now: float) -> bool:
        """Start one request, or settle one URL without any. False when the site has nothing to start."""
        if site.follow_ups:
            ticket, request = site.follow_ups.popleft()
            self._send(site, ticket, request, now)
            return True
        entry = self.supply.next_entry(site)
        if entry is None:
            return False
        ticket = self._ticket(site, entry, self.supply.crawls[entry.crawl_id], now)
        if ticket is not None:
            self._send(site, ticket, next(ticket.visit), now)
        return True

    def _ticket(self, site: Site, entry: Entry, crawling: Crawling, now: float) -> Ticket | None:
        """For the page, or for the robots.txt that is needed first; None when neither is to be asked for."""
        robots = None
        if crawling.rules.respect_robots:
            found = self.reception.rules_for(site, entry, crawling, now)
            if found is None or isinstance(found, Ticket):
                self.supply.put_back(site, entry)
                return found
            robots = found.rules
            if (refusal := crawling.gate.may_fetch(entry.url, robots)) is not None:
                self._finished(site, self.flow.refused(entry, crawling, refusal, None, now))
                return None
        if site.near is None:
            site.near = NearPages(self.store.fingerprints(site.name, COMPARED_DOCUMENTS))
        before = self.supply.validators.pop(entry.url_hash, None) if entry.crawl_count else None
        visit = self.flow.visit(entry, crawling, site.near, before, robots)
        return Ticket(site, visit, self._finished, crawling.rules.render)

    def _send(self, site: Site, ticket: Ticket, request: Request, now: float) -> None:
        site.clock.began(now)
        site.in_flight += 1
        self.fetcher.start(request, ticket)

    # Answers.

    def _answered(self, ticket: Ticket, answer: Answer) -> None:
        site = ticket.site
        site.in_flight -= 1
        try:
            request = ticket.visit.send(answer)
        except StopIteration as end:
            ticket.done(site, end.value)
        else:
            site.follow_ups.append((ticket, request))
        self._judge_host(site, answer)
        self.rota.add(site, site.clock.ready_at)

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
        crawling = self.supply.crawls.get(head.crawl_id) if head else None
        if head is not None and crawling is not None and failure is not None and not site.pages:
            site.queue.popleft()
            self._finished(site, self.flow.given_up(head, crawling, failure))
        site.block(code, reason)
        self.progress.parked[site.name] = reason

    def _finished(self, site: Site, page: PageOutcome) -> None:
        if self.sites.get(site.name) is not site:  # lost, and perhaps claimed again: this was done under the old claim
            self._take_back([page])
            return
        self.committer.add_page(page)
        self.progress.count(page)
        if page.outcome in (Outcome.PAGE, Outcome.UNCHANGED):
            site.pages += 1
            turn = site.claimed.pages_per_run
            if turn is not None and site.pages >= turn and len(self.sites) >= self.limits.sites:
                site.stop()  # others wait; its turn comes again
        elif (crawling := self.supply.crawls.get(page.entry.crawl_id)) is not None:
            crawling.return_one()

    # Commits, and sites that have nothing to start.

    def _commit(self) -> None:
        done = self.committer.commit(self.sites)
        self.progress.paused = self.committer.paused
        if done is not None:
            self._committed(*done)
        if not self.committer.paused:  # when the store fails in between they go on waiting
            self._release([site for site in self.waiting.values() if not self._has_work(site)])
            self.waiting.clear()

    def _committed(self, batch: Batch, result: Committed) -> None:
        self.progress.refused += sum(one.refusal is not None for one in batch.found.values())
        for crawling in self.supply.crawls.values():
            crawling.learn(batch.found, result.ids)
        for page in batch.pages:
            if (site := self.sites.get(page.entry.domain)) is not None:
                site.taken.discard(page.entry.id)
                site.has_more = site.has_more or page.status == "pending"
        for name in result.lost:
            self._lose(name)
            self._take_back([page for page in batch.pages if page.entry.domain == name])
        for name in result.added_by_domain:
            if (site := self.sites.get(name)) is not None:
                site.has_more = True
            else:
                self.controlled_at = -1e9  # a domain to claim

    def _has_work(self, site: Site) -> bool:
        """Everything of it is committed and nothing under way. Is there more, now or soon?"""
        if self.sites.get(site.name) is not site or site.is_busy or site.due_at is not None:
            return True  # somebody has looked at it since
        if site.stopped:
            return False
        site.taken.clear()
        self.supply.refill(site)
        if site.queue:
            self.rota.add(site, site.clock.next_allowed_at)
            return True
        due = self.store.next_due(site.name, self.supply.open_crawls())
        if due is not None and due - self.store.now() <= self.limits.worth_waiting_seconds:
            site.has_more = True
            self.rota.add(site, max(due, site.clock.next_allowed_at))
            return True
        site.not_before = due
        return False

    def _release(self, sites: list[Site]) -> None:
        if sites:
            self.store.release([self.supply.ending_of(site) for site in sites])
            for site in sites:
                del self.sites[site.name]
            self.store.finish_idle_crawls()
            self.controlled_at = -1e9  # there is room for others, or an end

    def _wind_down(self) -> None:
        """Answers under way are waited for shortly, then everything is saved and every claim given back."""
        for site in self.sites.values():
            site.stop()
        until = monotonic() + self.limits.stop_seconds
        while any(site.in_flight for site in self.sites.values()) and monotonic() < until:
            self._receive(0.0 if self.inbox else max(0.0, until - monotonic()))
            while self.inbox:
                self._answered(*self.inbox.popleft())
        try:
            self._commit()
            self._release(list(self.sites.values()))
        except StoreUnavailable as error:
            log.warning("could not save the last pages; they are still pending: %s", error)
