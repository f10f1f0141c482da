"""The shapes that the crawls API gives. `crawler explain --json` prints the same."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from ninja import Field, Schema

from crawler.accounts.schemas import CursorPage


class UrlState(StrEnum):
    """What is to be expected of a URL; where crawls differ, the first of these that holds in one of them."""

    WILL_BE_FETCHED = "will_be_fetched"
    WAITS = "waits"
    FETCHED = "fetched"
    REDIRECTS = "redirects"
    FAILED = "failed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Verdict(Schema):
    state: UrlState
    text: str = Field(description="One sentence or two for people.")


class RefusalOut(Schema):
    reason: str
    explanation: str
    detail: str = Field(description="The rule, limit or part of the URL that decided; may be empty.")
    is_final: bool = Field(description="False: a better link, or another moment, may still admit it.")


class ClaimOut(Schema):
    held_by: str
    until: datetime
    is_live: bool
    version: int


class BlockOut(Schema):
    code: str
    reason: str
    until: datetime | None = Field(description="Null: until somebody resets it.")
    times: int = Field(description="How often in a row it was blocked.")


class PolitenessOut(Schema):
    next_request_at: datetime | None
    crawl_delay_seconds: float
    backoff_level: int
    errors_in_a_row: int


class DomainOut(Schema):
    name: str
    status: str
    claim: ClaimOut | None
    block: BlockOut | None
    politeness: PolitenessOut
    next_crawl_after: datetime | None
    last_crawled_at: datetime | None
    urls_to_fetch: int
    pages_crawled: int


class AgentVerdict(Schema):
    user_agent: str
    is_allowed: bool
    rule: str | None = Field(description="As the file has it; null: no rule speaks of the URL.")
    line: int | None
    crawl_delay_seconds: float | None


class RobotsOut(Schema):
    origin: str
    fetched_at: datetime | None = Field(description="Null: it was never read.")
    expires_at: datetime | None
    is_fresh: bool
    http_status: int | None
    error: str
    availability: str = Field(description="read, absent (no rules), unreachable (stay away), or unknown.")
    verdicts: list[AgentVerdict]


class Discovery(Schema):
    url: str
    url_hash: str
    depth: int
    discovered_by: str


class UrlInCrawl(Schema):
    job_id: str
    crawl: str
    crawl_status: str
    url: str = Field(description="As this crawl fetches it.")
    status: str
    depth: int
    priority: int
    discovered_at: datetime
    discovered_by: str = Field(description="seed, link, redirect, sitemap, canonical or api.")
    discovered_through: list[Discovery] = Field(description="The page it was found on, then that page's, up to a seed.")
    refusal: RefusalOut | None
    delay_seconds: float = Field(description="Between requests to a host, by the crawl's own rules.")
    attempts: int
    failures: int
    last_attempt_at: datetime | None
    last_status_code: int | None
    last_error: str | None
    next_due_at: datetime | None = Field(description="Null: at once when pending, else not planned.")
    urls_ahead: int | None = Field(description="URLs of the domain that come before it; null unless pending.")
    verdict: Verdict


class FetchOut(Schema):
    fetched_at: datetime
    job_id: str | None
    url: str
    outcome: str
    http_status: int | None
    note: str | None
    content_type: str | None
    bytes: int
    response_time_ms: int | None
    address: str | None
    storage_path: str | None


class Fetches(Schema):
    total: int
    newest: list[FetchOut]


class UrlName(Schema):
    url: str | None = Field(description="Null: nothing is known of it but its hash.")
    url_hash: str


class StoredDocument(Schema):
    http_status: int
    content_type: str | None
    content_length: int | None
    title: str | None
    crawled_at: datetime
    changed_at: datetime | None
    is_truncated: bool
    duplicate_of: UrlName | None
    near_duplicate_of: UrlName | None
    storage_path: str | None


class LinkOut(Schema):
    id: int
    source_url: str
    source_url_hash: str
    target_url: str
    target_url_hash: str
    anchor_text: str
    link_type: str
    discovered_at: datetime


class LinkSummary(Schema):
    count: int
    is_complete: bool = Field(description="False: there are more than were counted.")
    examples: list[LinkOut]


class Redirects(Schema):
    to: str | None
    sources: list[str] = Field(description="URLs that redirect here.")


class Judgement(Schema):
    job_id: str
    crawl: str
    crawl_status: str
    is_admitted: bool
    text: str
    refusal: RefusalOut | None


class Story(Schema):
    url: str = Field(description="What was asked for, as it would be fetched.")
    normal_form: str
    url_hash: str
    is_known: bool = Field(description="True when a crawl has it.")
    asked_at: datetime
    verdict: Verdict
    domain: str
    domain_record: DomainOut | None
    robots: RobotsOut
    crawls: list[UrlInCrawl]
    fetches: Fetches
    document: StoredDocument | None
    outlinks: LinkSummary
    inlinks: LinkSummary
    redirects: Redirects
    judgements: list[Judgement] = Field(description="What crawls that do not have it would say if they met it now.")


class OutlinkPage(Schema):
    outlinks: list[LinkOut]
    pagination: CursorPage


class InlinkPage(Schema):
    inlinks: list[LinkOut]
    pagination: CursorPage
