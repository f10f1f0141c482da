"""What a crawl would say to a URL that it has not met, by the same gate that its workers ask."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Case, Value, When

from crawler.crawls.models import Crawl, CrawlDomain
from crawler.crawls.queries.robots import OriginRobots
from crawler.crawls.schemas import Judgement, RefusalOut
from crawler.crawls.states import CrawlStatus
from crawler.crawls.store.rules import rules_of
from crawler.engine.crawling import Crawling
from crawler.engine.gate import Budget
from crawler.engine.refusals import Reason, Refusal
from crawler.engine.scope import InvalidPattern
from crawler.web.hosts import canonical_domain
from crawler.web.urls import InvalidURL

CRAWLS_ASKED = 20
A_LINK_ON_A_SEED = 1  # the least depth at which a link can be found


def judgements(url: str, robots: OriginRobots, now: datetime, *, without: Collection[int]) -> list[Judgement]:
    """Of the crawls that do not know it, those that run first, then the newest."""
    running_first = Case(When(status=CrawlStatus.RUNNING, then=Value(0)), default=Value(1))
    others = Crawl.objects.exclude(pk__in=without).order_by(running_first, "-id")[:CRAWLS_ASKED]
    return [judge(url, crawl, robots, now) for crawl in others]


def judge(url: str, crawl: Crawl, robots: OriginRobots, now: datetime) -> Judgement:
    try:
        refusal = _refusal(url, crawl, robots, now)
    except (InvalidPattern, InvalidURL) as error:
        return _judgement(crawl, f"Its rules cannot be used: {error}.", is_admitted=False)
    if refusal is not None:
        return _judgement(crawl, told(shown(refusal)), is_admitted=False, refusal=shown(refusal))
    text = "It would be fetched if a page of the crawl linked to it"
    text += "." if robots.record else ", unless its robots.txt, which was not read yet, forbids it."
    return _judgement(crawl, text, is_admitted=True)


def shown(refusal: Refusal) -> RefusalOut:
    reason = refusal.reason
    return RefusalOut(
        reason=reason.value, explanation=reason.explanation, detail=refusal.detail, is_final=reason.is_final
    )


def shown_by_name(reason: str, detail: str | None) -> RefusalOut:
    """A refusal as it is stored; one that this version does not know keeps its name."""
    try:
        return shown(Refusal(Reason(reason), detail or ""))
    except ValueError:
        return RefusalOut(reason=reason, explanation=f"It was refused: {reason}.", detail=detail or "", is_final=False)


def told(refusal: RefusalOut) -> str:
    """The explanation with its detail, as one sentence."""
    detail = f" ({refusal.detail})" if refusal.detail else ""
    return f"{refusal.explanation.rstrip('.')}{detail}."


def _refusal(url: str, crawl: Crawl, robots: OriginRobots, now: datetime) -> Refusal | None:
    config = settings.CRAWLSPACE
    rules = rules_of(crawl, "", config.user_agent)
    gate, domain = Crawling(rules, frozenset(config.tracking_params)).gate, canonical_domain(url)
    gate.open_domain(domain, _counters(crawl, domain))
    found = gate.admit(url, domain, A_LINK_ON_A_SEED, now.timestamp())
    if found is not None:
        return found
    if rules.respect_robots and (said := robots.refusal(url, rules.user_agent)):
        return said
    return Budget("the crawl", rules.max_pages, crawl.pages_crawled).refusal()


def _counters(crawl: Crawl, domain: str) -> dict[str, Any] | None:
    """What the crawl has seen of the domain's URLs, as it was last saved."""
    return CrawlDomain.objects.filter(crawl=crawl, domain=domain).values_list("trap_counters", flat=True).first()


def _judgement(crawl: Crawl, text: str, *, is_admitted: bool, refusal: RefusalOut | None = None) -> Judgement:
    return Judgement(
        job_id=crawl.job_id, crawl=crawl.name, crawl_status=crawl.status, is_admitted=is_admitted, text=text,
        refusal=refusal,
    )  # fmt: skip
