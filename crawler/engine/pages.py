"""What came of a URL: from the answer of its server to the outcome that is committed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final

from crawler.archive.contract import Archive
from crawler.engine import steps
from crawler.engine.archiving import Archivist
from crawler.engine.contract import Batch, DocumentFacts, ImageSeen, Outcome, PageOutcome, Validators
from crawler.engine.crawling import Crawling
from crawler.engine.near import NearPages, page_fingerprint, signed
from crawler.engine.reading import HTML_TYPES, Body, ContentTypes, Reading, body_of, read_page
from crawler.engine.refusals import Reason, Refusal
from crawler.fetch.outcome import Failure, FailureKind, Request, Response, Truncation
from crawler.frontier.bulk import timestamp
from crawler.frontier.contract import Entry
from crawler.web.directives import UNRESTRICTED
from crawler.web.headers import parse_date, sniff, x_robots_tag
from crawler.web.links import Link, extract_decoded, parse_refresh
from crawler.web.robots import Robots
from crawler.web.urls import InvalidURL, resolve

Answer = Response | Failure
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
LONGEST_ERROR: Final = 500
_SAID_TO_ROBOTS: Final = frozenset({"refresh", "x-robots-tag"})
ACCEPT: Final = ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")


class PageFlow:
    """Fetches one URL and says what came of it. Shared by all visits of a worker; keeps no state of one."""

    def __init__(self, archive: Archive, batch: Callable[[], Batch], now: Callable[[], float]) -> None:
        self.archivist = Archivist(archive)
        self.batch = batch
        self.now = now
        self.content_types = ContentTypes()
        self._wants: dict[int, Callable[[int, Mapping[str, str]], bool]] = {}

    def visit(
        self, entry: Entry, crawling: Crawling, near: NearPages, before: Validators | None, robots: Robots | None
    ) -> Generator[Request, Answer, PageOutcome]:
        """Asks for the URL; a redirect to another spelling of the same URL is followed on the spot.

        Another spelling stays on the origin, whose `robots` are these; they are asked about every hop.
        """
        rules, url = crawling.rules, entry.url
        asked = [url]
        headers = (("User-Agent", rules.user_agent), ACCEPT, *rules.headers_for(url), *conditions(before))
        while True:
            began = self.now()
            answer = yield Request(
                url, headers, rules.timeout_seconds, rules.max_body_bytes, rules.proxy,
                wants_body=self._wants_body(crawling),
            )  # fmt: skip
            if isinstance(answer, Failure):
                return self.failed(entry, crawling, answer, began)
            if answer.status not in REDIRECTS or not answer.location:
                return self.answered(entry, crawling, answer, began, near, before)
            target = self._target(answer, url)
            if target is None or not self._is_same(target, entry, crawling) or not rules.follow_redirects:
                return self.redirected(entry, crawling, answer, began, target)
            refusal = crawling.gate.hop_refusal(asked, target) or crawling.gate.may_fetch(target, robots)
            if refusal is not None:
                return self.refused(entry, crawling, refusal, answer, began)
            asked.append(target)
            url = target

    def _wants_body(self, crawling: Crawling) -> Callable[[int, Mapping[str, str]], bool]:
        """Other content than the crawl stores is not downloaded."""
        wants = self._wants.get(crawling.rules.id)
        if wants is None:
            accepted = crawling.rules.content_types
            parse = self.content_types.parse

            def wants(status: int, headers: Mapping[str, str]) -> bool:
                essence = parse(headers.get("content-type", ""))[0]
                return not essence or status >= 300 or accepts(accepted, essence)

            self._wants[crawling.rules.id] = wants
        return wants

    def _target(self, answer: Response, url: str) -> str | None:
        try:
            return resolve(answer.location or "", url)
        except InvalidURL:
            return None

    def _is_same(self, target: str, entry: Entry, crawling: Crawling) -> bool:
        try:
            return crawling.identity(target) == entry.url_hash
        except InvalidURL:
            return False

    # What can come of it, one function each.

    def _outcome(self, entry: Entry, crawling: Crawling, outcome: Outcome, status: str, began: float) -> PageOutcome:
        return PageOutcome(entry, crawling.rules.run_id, outcome, status, began)

    def failed(self, entry: Entry, crawling: Crawling, failure: Failure, began: float) -> PageOutcome:
        if failure.kind in (FailureKind.GUARD, FailureKind.URL):
            reason = Reason.GUARD if failure.kind is FailureKind.GUARD else Reason.INVALID_URL
            return self.refused(entry, crawling, Refusal(reason, failure.message), None, began)
        failures = entry.failure_count + 1
        step = steps.after_failure(failure, failures, crawling.rules.max_attempts)
        page = self._outcome(entry, crawling, Outcome.FAILED, step.status, began)
        page.error = f"{failure.kind}: {failure.message}"[:LONGEST_ERROR]
        page.failure_count = failures
        page.response_seconds = failure.seconds
        page.next_crawl_after = self.now() + step.after_seconds if step.status == "pending" else None
        return page

    def given_up(self, entry: Entry, crawling: Crawling, failure: Failure) -> PageOutcome:
        """Not tried again: its host does not answer."""
        page = self.failed(entry, crawling, failure, self.now())
        page.status, page.next_crawl_after = "failed", None
        return page

    def refused(
        self, entry: Entry, crawling: Crawling, refusal: Refusal, answer: Response | None, began: float
    ) -> PageOutcome:
        page = self._outcome(entry, crawling, Outcome.REFUSED, "blocked", began)
        page.refusal, page.detail = refusal.reason.value, refusal.detail[:LONGEST_ERROR]
        page.was_attempted = answer is not None
        if answer is not None:
            self._note_answer(page, answer)
        return page

    def _note_answer(self, page: PageOutcome, answer: Response) -> None:
        page.status_code = answer.status
        page.response_seconds = answer.seconds
        page.bytes_downloaded = len(answer.header_block) + len(answer.body)
        page.address = answer.address
        page.content_type = self.content_types.parse(answer.headers.get("content-type", ""))[0][:100] or None

    def redirected(
        self, entry: Entry, crawling: Crawling, answer: Response, began: float, target: str | None
    ) -> PageOutcome:
        """The target becomes a URL of the frontier: fetched once, however many lead there, by who has its domain."""
        rules = crawling.rules
        if target is None:
            refusal = Refusal(Reason.INVALID_URL, f"redirects to {answer.location!r}"[:200])
            return self.refused(entry, crawling, refusal, answer, began)
        if not rules.follow_redirects or entry.redirect_hops >= rules.max_redirects:
            return self.refused(entry, crawling, Refusal(Reason.REDIRECT_LIMIT, target), answer, began)
        page = self._outcome(entry, crawling, Outcome.REDIRECT, "completed", began)
        self._note_answer(page, answer)
        page.detail = f"redirects to {target}"[:LONGEST_ERROR]
        number: int | str | None = crawling.known.get(target)
        if number is None or (isinstance(number, int) and number < 0):
            number = crawling.meet(target, entry, self.batch(), began, by="redirect")
        if number is not None:
            page.targets, page.anchors, page.types, page.outlinks_found = [number], [""], ["redirect"], 1
        return page

    def answered(
        self,
        entry: Entry,
        crawling: Crawling,
        answer: Response,
        began: float,
        near: NearPages,
        before: Validators | None,
    ) -> PageOutcome:
        if answer.status == 304 and before is not None:
            return self.unchanged(entry, crawling, answer, began, before)
        if not 200 <= answer.status < 300:
            return self.error_status(entry, crawling, answer, began)
        essence, _ = self.content_types.parse(answer.headers.get("content-type", ""))
        if answer.truncated is Truncation.UNWANTED:
            return self.refused(entry, crawling, Refusal(Reason.CONTENT_TYPE, essence), answer, began)
        if answer.truncated is Truncation.INCOMPLETE and entry.failure_count + 1 < crawling.rules.max_attempts:
            return self.failed(entry, crawling, Failure(FailureKind.INCOMPLETE, "the body broke off", True), began)
        return self.page(entry, crawling, answer, began, near, before)

    def error_status(self, entry: Entry, crawling: Crawling, answer: Response, began: float) -> PageOutcome:
        failures = entry.failure_count + 1
        step = steps.after_status(answer.status, failures, crawling.rules.max_attempts)
        page = self._outcome(entry, crawling, Outcome.FAILED, step.status, began)
        self._note_answer(page, answer)
        page.failure_count = failures
        page.error = f"HTTP {answer.status}"
        page.next_crawl_after = self.now() + step.after_seconds if step.status == "pending" else None
        return page

    def unchanged(
        self, entry: Entry, crawling: Crawling, answer: Response, began: float, before: Validators
    ) -> PageOutcome:
        page = self._outcome(entry, crawling, Outcome.UNCHANGED, "completed", began)
        self._note_answer(page, answer)
        page.record = self.archivist.keep_unchanged(entry, answer, began, before)
        return page

    def page(
        self,
        entry: Entry,
        crawling: Crawling,
        answer: Response,
        began: float,
        near: NearPages,
        before: Validators | None,
    ) -> PageOutcome:
        content_type = answer.headers.get("content-type", "")
        body = body_of(answer, crawling.rules.max_body_bytes)
        essence = self.content_types.parse(content_type)[0] or sniff(body.content)
        if not accepts(crawling.rules.content_types, essence):
            return self.refused(entry, crawling, Refusal(Reason.CONTENT_TYPE, essence), answer, began)
        content_hash = sha256(body.content).hexdigest()
        if before is not None and before.content_hash == content_hash:
            return self.unchanged(entry, crawling, answer, began, before)
        page = self._outcome(entry, crawling, Outcome.PAGE, "completed", began)
        self._note_answer(page, answer)
        reading = None
        if essence in HTML_TYPES and not body.is_opaque:
            reading = read_page(body.content, content_type or None)
            self._follow(page, body.content, reading, crawling, answer)
        kept = self.archivist.keep(entry, answer, began, content_hash, body)
        page.error, page.record = body.error, kept.record
        page.document = self._facts(page, answer, body, content_hash, reading, kept.document, near)
        return page

    def _follow(
        self, page: PageOutcome, content: bytes, reading: Reading, crawling: Crawling, answer: Response
    ) -> None:
        glance = crawling.glance
        if glance is not None and reading.charset == "utf-8" and _SAID_TO_ROBOTS.isdisjoint(answer.headers):
            seen = glance.at(content, answer.url, crawling.known)
            if seen is not None:
                page.outlinks_found = seen.links
                crawling.targets_of(seen.new, page.entry, self.batch(), page.fetched_at, None)
                return
        self._read_links(page, reading, crawling, answer)

    def _read_links(self, page: PageOutcome, reading: Reading, crawling: Crawling, answer: Response) -> None:
        rules, found = crawling.rules, extract_decoded(reading.text, answer.url, reading.charset)
        tag = answer.headers.get("x-robots-tag")
        header = x_robots_tag(tag, rules.user_agent) if tag else UNRESTRICTED
        verdict = crawling.gate.page_verdict(found.meta_robots, header, page.fetched_at)
        links = (*found.links, *refresh_header(answer)) if "refresh" in answer.headers else found.links
        targets, anchors, types = crawling.targets_of(links, page.entry, self.batch(), page.fetched_at, verdict.follow)
        page.outlinks_found = len(targets)
        if rules.store_outlinks:
            page.targets, page.anchors, page.types = targets, anchors, types
        if rules.store_images and found.images:
            page.images = [seen for image in found.images if (seen := _seen(image, crawling)) is not None]

    def _facts(
        self, page: PageOutcome, answer: Response, body: Body, content_hash: str, reading: Reading | None,
        storage_path: str, near: NearPages,
    ) -> DocumentFacts:  # fmt: skip
        simhash = page_fingerprint(reading.text) if reading else None
        near_to = None
        if simhash is not None:
            near_to = near.find(simhash, page.entry.url_hash)
            near.add(simhash, page.entry.url_hash)
        headers = answer.headers
        modified = headers.get("last-modified")
        moment = _date(modified[:100]) if modified else None
        return DocumentFacts(
            answer.status, page.content_type, len(body.content), (headers.get("content-encoding") or "")[:50] or None,
            reading.charset if reading else None, (headers.get("etag") or "")[:255] or None,
            moment, content_hash,
            None if simhash is None else signed(simhash), storage_path, reading.title if reading else None,
            len(page.images), answer.truncated is not None or body.error is not None, near_to,
        )  # fmt: skip


def accepts(content_types: Sequence[str], essence: str) -> bool:
    """`*/*` takes everything, `text/*` every text."""
    return essence in content_types or "*/*" in content_types or f"{essence.partition('/')[0]}/*" in content_types


def refresh_header(answer: Response) -> list[Link]:
    """A Refresh header says what a meta refresh would."""
    refresh = parse_refresh(answer.headers["refresh"])
    try:
        return [Link(resolve(refresh.url, answer.url), tag="refresh")] if refresh and refresh.url else []
    except InvalidURL:
        return []


@lru_cache(4096)
def _date(value: str) -> str | None:
    """A Last-Modified as the database takes it; the pages of a site share many."""
    moment = parse_date(value, lenient=True)
    return timestamp(moment.timestamp()) if moment else None


def _seen(image: object, crawling: Crawling) -> ImageSeen | None:
    url: str = image.url  # type: ignore[attr-defined]
    try:
        return ImageSeen(crawling.identity(url), url, image.alt[:1000], image.width, image.height)  # type: ignore[attr-defined]
    except InvalidURL:
        return None


def conditions(before: Validators | None) -> tuple[tuple[str, str], ...]:
    """Headers that ask for the page only if it changed."""
    if before is None:
        return ()
    found = []
    if before.etag:
        found.append(("If-None-Match", before.etag))
    if before.last_modified:
        found.append(("If-Modified-Since", before.last_modified))
    return tuple(found)
