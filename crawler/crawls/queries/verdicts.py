"""What is to be expected of a URL in a crawl, in a sentence: pure decisions over what the tables say.

For a URL that is to be fetched the checks are asked in the order in which they stand in its way; the first that has
something to say is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from crawler.crawls.models import CrawlLog, FrontierURL
from crawler.crawls.queries.judging import shown, shown_by_name, told
from crawler.crawls.queries.robots import OriginRobots
from crawler.crawls.schemas import Judgement, StoredDocument, UrlInCrawl, UrlState, Verdict
from crawler.crawls.states import CrawlStatus, UrlStatus
from crawler.domains.models import Domain
from crawler.domains.states import AUTOMATIC_RETRIES, DomainStatus
from crawler.engine.contract import CrawlRules, Outcome

BLOCKED: Final = frozenset({DomainStatus.BLOCKED, DomainStatus.UNREACHABLE})
MOST_AHEAD: Final = 10_000  # no more are counted


@dataclass(frozen=True, slots=True)
class Situation:
    """All that bears on one URL in one crawl. `last` is its newest fetch by this crawl."""

    row: FrontierURL
    rules: CrawlRules
    domain: Domain | None
    robots: OriginRobots
    now: datetime
    ahead: int | None = None
    last: CrawlLog | None = None


def said(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def verdict_in_crawl(situation: Situation) -> Verdict:
    return BY_STATUS[UrlStatus(situation.row.status)](situation)


def verdict_of_all(
    crawls: Sequence[UrlInCrawl], judgements: Sequence[Judgement], document: StoredDocument | None
) -> Verdict:
    """Where crawls differ: what is most alive, with the name of its crawl."""
    if not crawls:
        past = f" A crawl that is gone fetched it at {said(document.crawled_at)}." if document else ""
        return Verdict(state=UrlState.UNKNOWN, text=_unknown(judgements) + past)
    order = list(UrlState)
    best = min(crawls, key=lambda one: order.index(one.verdict.state))
    if len(crawls) == 1:
        return best.verdict
    return Verdict(
        state=best.verdict.state, text=f"In the crawl {best.crawl!r} (of {len(crawls)}): {best.verdict.text}"
    )


def _unknown(judgements: Sequence[Judgement]) -> str:
    willing = [one for one in judgements if one.is_admitted]
    running = [one for one in willing if one.crawl_status == CrawlStatus.RUNNING]
    if not judgements:
        return "No crawl knows it: there are no crawls."
    if running:
        return f"No crawl has met it yet. In the crawl {running[0].crawl!r}: {running[0].text}"
    if willing:
        return f"No crawl has met it. The rules of {willing[0].crawl!r} allow it, but that crawl is not running."
    first = judgements[0]
    return f"No crawl has met it, and none would fetch it. In the crawl {first.crawl!r}: {first.text}"


# A URL that was dealt with.


def _refused(situation: Situation) -> Verdict:
    refusal = shown_by_name(situation.row.refusal or "", situation.row.refusal_detail)
    again = "" if refusal.is_final else " It is judged anew when it is found again under better terms."
    return Verdict(state=UrlState.REFUSED, text=f"It is refused: {told(refusal)}{again}")


def _failed(situation: Situation) -> Verdict:
    row = situation.row
    last = f"last with {row.last_error}" if row.last_error else f"last with HTTP {row.last_status_code}"
    text = f"It failed: {_times(row.failure_count, 'attempt')}, {last}. It is not tried again."
    return Verdict(state=UrlState.FAILED, text=text)


def _completed(situation: Situation) -> Verdict:
    row, last = situation.row, situation.last
    when = f" at {said(row.last_crawl_attempt)}" if row.last_crawl_attempt else ""
    if last is not None and last.outcome == Outcome.REDIRECT:
        text = f"It {last.error or 'redirects elsewhere'} (HTTP {row.last_status_code}, asked{when})"
        return Verdict(state=UrlState.REDIRECTS, text=f"{text}{_next_visit(situation)}.")
    unchanged = ", unchanged since the visit before" if last and last.outcome == Outcome.UNCHANGED else ""
    status = f" (HTTP {row.last_status_code}{unchanged})" if row.last_status_code else ""
    return Verdict(state=UrlState.FETCHED, text=f"It was fetched{when}{status}{_next_visit(situation)}.")


def _next_visit(situation: Situation) -> str:
    due = situation.row.next_crawl_after or situation.row.crawl.next_run_at
    return f" and is next due at {said(due)}" if due else "; no further visit is planned"


# A URL that is to be fetched: what stands in its way, in this order.


def _waits(why: str) -> Verdict:
    return Verdict(state=UrlState.WAITS, text=f"It waits because {why}.")


def _crawl_rests(situation: Situation) -> Verdict | None:
    crawl = situation.row.crawl
    if crawl.status == CrawlStatus.RUNNING or _is_spent(situation):
        return None
    resting = {
        CrawlStatus.CREATED: "was not started yet",
        CrawlStatus.SCHEDULED: f"starts at {said(crawl.next_run_at)}" if crawl.next_run_at else "is scheduled",
    }
    return _waits(f"its crawl {crawl.name!r} {resting.get(CrawlStatus(crawl.status), f'is {crawl.status}')}")


def _is_spent(situation: Situation) -> bool:
    limit = situation.rules.max_pages
    return limit is not None and situation.row.crawl.pages_crawled >= limit


def _budget_spent(situation: Situation) -> Verdict | None:
    if not _is_spent(situation):
        return None
    return _waits(f"its crawl has fetched the {_times(situation.rules.max_pages or 0, 'page')} that it may")


def _domain_blocked(situation: Situation) -> Verdict | None:
    domain = situation.domain
    if domain is None or domain.status not in BLOCKED:
        return None
    why = f" ({domain.block_reason_code}: {domain.block_reason or 'no details'})"
    if domain.block_retries > AUTOMATIC_RETRIES:
        return _waits(f"its domain is {domain.status} until somebody resets it{why}")
    until = f" until {said(domain.next_crawl_after)}" if domain.next_crawl_after else ""
    return _waits(f"its domain is {domain.status}{until}{why}")


def _robots_parks(situation: Situation) -> Verdict | None:
    robots = situation.robots
    if not situation.rules.respect_robots or robots.record is None or not robots.parks(situation.now):
        return None
    return _waits(f"its domain is parked until {said(robots.record.expires_at)} ({robots.answer})")


def _robots_refuses(situation: Situation) -> Verdict | None:
    rules = situation.rules
    refusal = situation.robots.refusal(situation.row.url, rules.user_agent) if rules.respect_robots else None
    if refusal is None or not situation.robots.is_fresh(situation.now):
        return None
    return Verdict(state=UrlState.REFUSED, text=f"It will be refused when its turn comes: {told(shown(refusal))}")


def _retried_later(situation: Situation) -> Verdict | None:
    row = situation.row
    if row.next_crawl_after is None or row.next_crawl_after <= situation.now:
        return None
    if not row.failure_count:
        return _waits(f"it is not due before {said(row.next_crawl_after)}")
    failed = f"after {_times(row.failure_count, 'failure')}, last {row.last_error or row.last_status_code}"
    return _waits(f"it is tried again at {said(row.next_crawl_after)}, {failed}")


def _domain_later(situation: Situation) -> Verdict | None:
    domain = situation.domain
    if domain is None or domain.next_crawl_after is None or domain.next_crawl_after <= situation.now:
        return None
    return _waits(f"its domain is not visited before {said(domain.next_crawl_after)}")


def _in_turn(situation: Situation) -> Verdict:
    domain, now = situation.domain, situation.now
    text = f"It will be fetched {_after_whom(situation.ahead)}"
    if domain is not None and domain.claimed_by and domain.claim_expires_at and domain.claim_expires_at > now:
        text += f": {domain.claimed_by} works on its domain"
        if domain.next_request_at and domain.next_request_at > now:
            text += f", the next request may go out at {said(domain.next_request_at)}"
    else:
        text += " once a worker takes up its domain"
    return Verdict(state=UrlState.WILL_BE_FETCHED, text=f"{text}.")


def _after_whom(ahead: int | None) -> str:
    if not ahead:
        return "next of its domain"
    return (
        f"after {'more than ' if ahead > MOST_AHEAD else ''}{_times(min(ahead, MOST_AHEAD), 'other URL')} of its domain"
    )


def _times(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


IN_THE_WAY: Final[tuple[Callable[[Situation], Verdict | None], ...]] = (
    _crawl_rests, _budget_spent, _domain_blocked, _robots_parks, _robots_refuses, _retried_later, _domain_later,
)  # fmt: skip


def _pending(situation: Situation) -> Verdict:
    return next((found for check in IN_THE_WAY if (found := check(situation))), None) or _in_turn(situation)


BY_STATUS: Final[dict[UrlStatus, Callable[[Situation], Verdict]]] = {
    UrlStatus.PENDING: _pending,
    UrlStatus.CRAWLING: _pending,
    UrlStatus.COMPLETED: _completed,
    UrlStatus.FAILED: _failed,
    UrlStatus.BLOCKED: _refused,
}
