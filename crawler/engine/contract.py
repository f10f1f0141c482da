"""What the engine asks of the place where crawls are kept, and the values that pass between them.

The engine knows no database. A `Store` gives it domains to work on and their URLs, and takes batches of outcomes.
Every batch is one transaction, guarded by the claims it was made under: what a worker that lost a domain brings for
it is dropped, and told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

from crawler.frontier.contract import Entry, Found

CREDENTIALS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """A crawl as the engine needs it. Every field has a value; where defaults come from is the store's business."""

    id: int
    run_id: str
    name: str = ""
    seeds: tuple[str, ...] = ()
    max_depth: int | None = None
    max_pages: int | None = None
    allowed_domains: tuple[str, ...] = ()
    url_patterns: tuple[str, ...] = ()
    excluded_patterns: tuple[str, ...] = ()
    respect_robots: bool = True
    respect_nofollow: bool = True
    follow_redirects: bool = True
    max_redirects: int = 5
    timeout_seconds: float = 30.0
    max_body_bytes: int = 10 * 1024 * 1024
    max_attempts: int = 3
    user_agent: str = ""
    content_types: tuple[str, ...] = ("text/html", "application/xhtml+xml")
    delay_seconds: float = 1.0
    per_host: int = 1
    adaptive: bool = True
    store_outlinks: bool = True
    store_images: bool = True
    use_sitemaps: bool = False
    render: bool = False
    proxy: str | None = None
    headers: tuple[tuple[str, str], ...] = ()

    def headers_for(self, url: str) -> tuple[tuple[str, str], ...]:
        """The crawl's own headers. Credentials go to the origins of its seeds alone."""
        if not self.headers or origin_of(url) in map(origin_of, self.seeds):
            return self.headers
        return tuple(pair for pair in self.headers if pair[0].lower() not in CREDENTIALS)


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL of the frontier, which always has a path."""
    return url[: url.find("/", url.find("//") + 2)]


class RobotsFile(NamedTuple):
    """An origin's robots.txt as it was last fetched. `status` is None when there was no answer."""

    origin: str
    fetched_at: float
    expires_at: float
    status: int | None
    body: bytes
    error: str = ""


@dataclass(slots=True)
class Claimed:
    """A domain that is ours until its claim ends."""

    id: Any
    name: str
    fence: int
    next_request_at: float = 0.0
    backoff_level: int = 0
    consecutive_errors: int = 0
    pages_per_run: int | None = None
    robots: list[RobotsFile] = field(default_factory=list)
    traps_by_crawl: dict[int, dict[str, Any]] = field(default_factory=dict)  # what the gate's counters said last


class Validators(NamedTuple):
    """What a conditional request needs of the version that is stored."""

    etag: str | None
    last_modified: str | None
    content_hash: str | None
    storage_path: str | None
    crawled_at: float | None


class Outcome(StrEnum):
    PAGE = "page"  # fetched and stored
    UNCHANGED = "unchanged"  # 304, or the same bytes as last time
    REDIRECT = "redirect"  # leads elsewhere
    REFUSED = "refused"  # by the gate, with a reason
    FAILED = "failed"  # an error status or no answer


class DocumentFacts(NamedTuple):
    """A page that was fetched, as its row wants it."""

    http_status: int
    content_type: str | None
    content_length: int
    content_encoding: str | None
    charset: str | None
    etag: str | None
    last_modified: str | None
    content_hash: str
    simhash: int | None
    storage_path: str | None
    title: str | None
    images_count: int
    is_truncated: bool
    near_duplicate_of: str | None = None


class ImageSeen(NamedTuple):
    url_hash: str
    url: str
    alt: str
    width: int | None
    height: int | None


@dataclass(slots=True)
class PageOutcome:
    """What came of one URL, ready to be committed."""

    entry: Entry
    run_id: str
    outcome: Outcome
    status: str  # of the URL from now on: completed, failed, blocked, pending
    fetched_at: float
    status_code: int | None = None
    error: str | None = None
    refusal: str | None = None
    detail: str | None = None
    failure_count: int = 0
    next_crawl_after: float | None = None
    response_seconds: float = 0.0
    bytes_downloaded: int = 0
    address: str | None = None
    content_type: str | None = None
    document: DocumentFacts | None = None
    # Link targets: the frontier's number where it is known, else the hash under which the batch has the URL.
    targets: Sequence[int | str] = ()
    anchors: Sequence[str] = ()
    types: Sequence[str] = ()
    outlinks_found: int = 0
    images: Sequence[ImageSeen] = ()
    record: str | None = None  # what the archive got of this visit
    was_attempted: bool = True  # False: refused before any request was made


@dataclass(slots=True)
class DomainNews:
    """What a batch says about a domain besides its pages."""

    claimed: Claimed
    next_request_at: float
    backoff_level: int
    consecutive_errors: int
    crawl_delay_ms: int | None = None


@dataclass(slots=True)
class Batch:
    """Everything since the last commit, in the order it happened."""

    pages: list[PageOutcome] = field(default_factory=list)
    found: dict[tuple[int, str], Found] = field(default_factory=dict)
    robots: list[tuple[str, RobotsFile]] = field(default_factory=list)  # domain, file
    domains: dict[str, DomainNews] = field(default_factory=dict)
    is_in_doubt: bool = False  # a commit of it has failed: it may have been done all the same
    # The store calls it last, right before the commit: it returns when the archive has what the batch points to.
    secured: Callable[[], None] = lambda: None


class Committed(NamedTuple):
    lost: list[str]  # domains whose claim is gone: nothing of theirs was written
    ids: dict[tuple[int, str], int]  # of all URLs that the batch found
    added_by_domain: dict[str, int]  # new URLs to fetch


class Ending(NamedTuple):
    """How the work on a domain ends: `blocked` is a reason code when the domain refuses us or does not answer."""

    claimed: Claimed
    blocked: str | None = None
    block_reason: str | None = None
    not_before: float | None = None  # nothing of it is due earlier
    traps_by_crawl: Mapping[int, dict[str, Any]] = MappingProxyType({})


class StoreUnavailable(Exception):
    """The store cannot be reached or written now. Nothing of the call was done; it may be made again."""


class Store(Protocol):
    """Every call may raise StoreUnavailable. `queued` is how many URLs waited when crawls were last asked for."""

    queued: int

    def now(self) -> float:
        """The database's time, seconds since 1970."""
        ...

    def running_crawls(self) -> dict[int, CrawlRules]:
        """Crawls to work on now; one that was paused or cancelled is no longer among them."""
        ...

    def claim(self, limit: int, crawls: Collection[int]) -> list[Claimed]:
        """Domains that nobody works on and that these crawls want something of."""
        ...

    def renew(self, held: Sequence[Claimed]) -> list[str]:
        """Extend the claims. The names of those that are lost."""
        ...

    def take(self, domain: str, crawls: Collection[int], limit: int, *, skip: Collection[int] = ()) -> list[Entry]: ...

    def next_due(self, domain: str, crawls: Collection[int]) -> float | None: ...

    def validators(self, entries: Sequence[Entry]) -> dict[str, Validators]:
        """Of the stored versions, by URL hash, for URLs that were fetched before."""
        ...

    def fingerprints(self, domain: str, limit: int) -> list[tuple[int, str]]:
        """Simhash and URL hash of the newest documents of a domain."""
        ...

    def reserve(self, crawl_id: int, pages: int) -> int:
        """Set pages of a crawl's budget aside for us; how many there were."""
        ...

    def commit(self, batch: Batch) -> Committed: ...

    def release(self, endings: Sequence[Ending]) -> None: ...

    def others_at_work(self) -> bool:
        """Does another worker hold domains of these crawls? It may find URLs for us yet."""
        ...

    def finish_idle_crawls(self) -> list[int]:
        """Complete running crawls that have nothing left to fetch."""
        ...
