"""The whole story of a URL: where it was found, what was decided about it, each fetch, who holds its domain, what comes
next. Any spelling of the URL will do. Nothing is written and nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from django.conf import settings
from django.db import connection

from crawler.crawls.models import CrawlLog, Document, FrontierURL
from crawler.crawls.queries import describing, links
from crawler.crawls.queries.discovery import discovered_through
from crawler.crawls.queries.judging import judgements, shown_by_name
from crawler.crawls.queries.links import PageLink
from crawler.crawls.queries.robots import OriginRobots, robots_for
from crawler.crawls.queries.verdicts import MOST_AHEAD, Situation, verdict_in_crawl, verdict_of_all
from crawler.crawls.schemas import Fetches, LinkOut, LinkSummary, Redirects, Story, UrlInCrawl
from crawler.crawls.states import UrlStatus
from crawler.crawls.store.rules import rules_of
from crawler.domains.models import Domain
from crawler.engine.contract import Outcome
from crawler.foundation.clock import database_now
from crawler.foundation.errors import InvalidInput
from crawler.web.hosts import canonical_domain
from crawler.web.urls import InvalidURL, normalize, resolve

CRAWLS_SHOWN = 20
FETCHES_SHOWN = 20
LINKS_SHOWN = 10
INLINKS_COUNTED = 1000
REDIRECTS_LOOKED_FOR = 100  # among so many links to it


class Asked(NamedTuple):
    """A URL as it would be fetched, and what identifies it."""

    url: str
    normal_form: str
    url_hash: str


def explain(url: str) -> Story:
    """Raises InvalidInput (INVALID_URL) for what is no URL."""
    asked, now = _read(url), database_now()
    rows = list(_rows(asked.url_hash))
    fetched = rows[0].url if rows else asked.url  # the spelling that is sent to the server
    robots = robots_for(fetched)
    domain = Domain.objects.filter(name=canonical_domain(fetched)).first()
    crawls = [_in_crawl(row, domain, robots, now) for row in rows]
    others = judgements(fetched, robots, now, without=[row.crawl_id for row in rows])
    document = describing.document(Document.objects.filter(pk=asked.url_hash).first())
    inlinks = links.inlinks_of(asked.url_hash, limit=REDIRECTS_LOOKED_FOR).links
    return Story(
        url=asked.url,
        normal_form=asked.normal_form,
        url_hash=asked.url_hash,
        is_known=bool(rows),
        asked_at=now,
        verdict=verdict_of_all(crawls, others, document),
        domain=canonical_domain(fetched),
        domain_record=describing.domain(domain, now) if domain else None,
        robots=describing.robots(robots, fetched, _user_agents(rows), now),
        crawls=crawls,
        fetches=_fetches(asked.url_hash),
        document=document,
        outlinks=_outlinks(asked.url_hash),
        inlinks=_inlinks(asked.url_hash, inlinks),
        redirects=Redirects(to=_redirect_target(asked.url_hash), sources=_redirecting(crawls, inlinks)),
        judgements=others,
    )


def _read(url: str) -> Asked:
    try:
        asked = resolve(url, None)
        normal = normalize(asked, drop_params=frozenset(settings.CRAWLSPACE.tracking_params))
    except InvalidURL as error:
        hint = "" if "://" in url else "; give the whole URL, with http:// or https://"
        raise InvalidInput("URL format is invalid", code="INVALID_URL", field="url", reason=f"{error}{hint}") from None
    return Asked(asked, normal, sha256(normal.encode("ascii")).hexdigest())


def _rows(url_hash: str) -> Iterable[FrontierURL]:
    return FrontierURL.objects.filter(url_hash=url_hash).select_related("crawl").order_by("-crawl_id")[:CRAWLS_SHOWN]


def _in_crawl(row: FrontierURL, domain: Domain | None, robots: OriginRobots, now: datetime) -> UrlInCrawl:
    rules = rules_of(row.crawl, "", settings.CRAWLSPACE.user_agent)
    ahead = _ahead(row) if row.status == UrlStatus.PENDING else None
    last = CrawlLog.objects.filter(url_hash=row.url_hash, crawl_run__crawl=row.crawl_id).order_by("-id").first()
    return UrlInCrawl(
        job_id=row.crawl.job_id,
        crawl=row.crawl.name,
        crawl_status=row.crawl.status,
        url=row.url,
        status=row.status,
        depth=row.depth,
        priority=row.priority,
        discovered_at=row.discovered_at,
        discovered_by=row.discovered_by,
        discovered_through=discovered_through(row),
        refusal=shown_by_name(row.refusal, row.refusal_detail) if row.refusal else None,
        delay_seconds=rules.delay_seconds,
        attempts=row.crawl_count,
        failures=row.failure_count,
        last_attempt_at=row.last_crawl_attempt,
        last_status_code=row.last_status_code,
        last_error=row.last_error,
        next_due_at=row.next_crawl_after,
        urls_ahead=ahead,
        verdict=verdict_in_crawl(Situation(row, rules, domain, robots, now, ahead, last)),
    )


def _ahead(row: FrontierURL) -> int:
    """How many URLs of the domain are taken before it, counted up to one more than MOST_AHEAD."""
    with connection.cursor() as cursor:
        # The status stands in the text, as the index is of pending URLs only.
        cursor.execute(
            "SELECT count(*) FROM (SELECT 1 FROM url_frontier WHERE domain = %s AND status = 'pending'"
            " AND (priority, id) < (%s, %s) LIMIT %s) AS ahead",
            [row.domain, row.priority, row.pk, MOST_AHEAD + 1],
        )
        return int(cursor.fetchone()[0])


def _user_agents(rows: Sequence[FrontierURL]) -> list[str]:
    """Our own name, and those that crawls use instead; each once."""
    platforms = settings.CRAWLSPACE.user_agent
    return list(dict.fromkeys([platforms, *(rules_of(row.crawl, "", platforms).user_agent for row in rows)]))


def _fetches(url_hash: str) -> Fetches:
    log = CrawlLog.objects.filter(url_hash=url_hash)
    newest = log.select_related("crawl_run__crawl").order_by("-id")[:FETCHES_SHOWN]
    return Fetches(total=log.count(), newest=[describing.fetch(row) for row in newest])


def _inlinks(url_hash: str, first: Sequence[PageLink]) -> LinkSummary:
    count = links.count_inlinks(url_hash, at_most=INLINKS_COUNTED + 1)
    return _summary(first, min(count, INLINKS_COUNTED), is_complete=count <= INLINKS_COUNTED)


def _outlinks(url_hash: str) -> LinkSummary:
    shown = links.outlinks_of(url_hash, limit=LINKS_SHOWN).links
    return _summary(shown, links.count_outlinks(url_hash), is_complete=True)


def _summary(found: Sequence[PageLink], count: int, *, is_complete: bool) -> LinkSummary:
    examples = [LinkOut(**link._asdict()) for link in found[:LINKS_SHOWN]]
    return LinkSummary(count=count, is_complete=is_complete, examples=examples)


def _redirect_target(url_hash: str) -> str | None:
    """Where it led when it was last asked."""
    last = CrawlLog.objects.filter(url_hash=url_hash).order_by("-id").first()
    if last is None or last.outcome != Outcome.REDIRECT:
        return None
    kept = links.outlinks_of(url_hash, limit=1).links
    if kept and kept[0].link_type == "redirect":
        return kept[0].target_url
    return (last.error or "").removeprefix("redirects to ") or None


def _redirecting(crawls: Iterable[UrlInCrawl], inlinks: Iterable[PageLink]) -> list[str]:
    found_by = [
        one.discovered_through[0].url for one in crawls if one.discovered_by == "redirect" and one.discovered_through
    ]
    linking = [link.source_url for link in inlinks if link.link_type == "redirect"]
    return list(dict.fromkeys(found_by + linking))[:LINKS_SHOWN]
