"""Rows as the shapes that a story is made of."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from crawler.crawls.models import CrawlLog, Document, FrontierURL
from crawler.crawls.queries.robots import OriginRobots
from crawler.crawls.schemas import (
    AgentVerdict,
    BlockOut,
    ClaimOut,
    DomainOut,
    FetchOut,
    PolitenessOut,
    RobotsOut,
    StoredDocument,
    UrlName,
)
from crawler.domains.models import Domain
from crawler.domains.states import AUTOMATIC_RETRIES
from crawler.web.robots import Robots


def domain(row: Domain, now: datetime) -> DomainOut:
    return DomainOut(
        name=row.name,
        status=row.status,
        claim=_claim(row, now),
        block=_block(row),
        politeness=PolitenessOut(
            next_request_at=row.next_request_at,
            crawl_delay_seconds=row.crawl_delay_ms / 1000,
            backoff_level=row.backoff_level,
            errors_in_a_row=row.consecutive_error_count,
        ),
        next_crawl_after=row.next_crawl_after,
        last_crawled_at=row.last_crawled_at,
        urls_to_fetch=row.frontier_size,
        pages_crawled=row.pages_crawled,
    )


def _claim(row: Domain, now: datetime) -> ClaimOut | None:
    if row.claimed_by is None or row.claim_expires_at is None:
        return None
    until = row.claim_expires_at
    return ClaimOut(held_by=row.claimed_by, until=until, is_live=until > now, version=row.version)


def _block(row: Domain) -> BlockOut | None:
    if row.block_reason_code is None:
        return None
    until = row.next_crawl_after if row.block_retries <= AUTOMATIC_RETRIES else None
    return BlockOut(code=row.block_reason_code, reason=row.block_reason or "", until=until, times=row.block_retries)


def robots(kept: OriginRobots, url: str, user_agents: Iterable[str], now: datetime) -> RobotsOut:
    record, rules = kept.record, kept.rules
    return RobotsOut(
        origin=kept.origin,
        fetched_at=record.fetched_at if record else None,
        expires_at=record.expires_at if record else None,
        is_fresh=kept.is_fresh(now),
        http_status=record.http_status if record else None,
        error=record.error if record else "",
        availability=rules.availability if rules else "unknown",
        verdicts=[_agent_verdict(rules, url, agent) for agent in user_agents] if rules else [],
    )


def _agent_verdict(rules: Robots, url: str, user_agent: str) -> AgentVerdict:
    said, was_read = rules.verdict(user_agent, url), rules.availability == "read"
    return AgentVerdict(
        user_agent=user_agent,
        is_allowed=said.allowed,
        rule=said.rule if was_read else None,
        line=said.line if was_read else None,
        crawl_delay_seconds=rules.crawl_delay(user_agent),
    )


def fetch(row: CrawlLog) -> FetchOut:
    return FetchOut(
        fetched_at=row.crawled_at,
        job_id=row.crawl_run.crawl.job_id if row.crawl_run else None,
        url=row.page_url,
        outcome=row.outcome,
        http_status=row.status,
        note=row.error,
        content_type=row.content_type,
        bytes=row.bytes,
        response_time_ms=row.response_time_ms,
        address=row.address,
        storage_path=row.storage_path,
    )


def document(row: Document | None) -> StoredDocument | None:
    if row is None:
        return None
    return StoredDocument(
        http_status=row.http_status,
        content_type=row.content_type,
        content_length=row.content_length,
        title=row.title,
        crawled_at=row.crawled_at,
        changed_at=row.changed_at,
        is_truncated=row.is_truncated,
        duplicate_of=_name(row.duplicate_of),
        near_duplicate_of=_name(row.near_duplicate_of),
        storage_path=row.storage_path,
    )


def _name(url_hash: str | None) -> UrlName | None:
    if url_hash is None:
        return None
    row = Document.objects.filter(pk=url_hash).first() or FrontierURL.objects.filter(url_hash=url_hash).first()
    return UrlName(url=row.url if row else None, url_hash=url_hash)
