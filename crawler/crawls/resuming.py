"""Crawls that one command owns: found again by name, taken up again where they were left.

The processes of such a command share a mark that begins the name each of them claims under. Whoever knows for sure that
the bearers of a mark are dead (a file lock that they held and that is free now, a child process that ended) may give
back what they held; a claim ends by itself only after half an hour. Hosts are not asked too early by that: the clock
is kept with the domain, and a domain that was claimed before is first left alone for one delay.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from crawler.crawls import actions
from crawler.crawls.models import Crawl, CrawlRun, FrontierURL, PageBudget
from crawler.crawls.states import CrawlStatus, UrlStatus
from crawler.domains.models import Domain
from crawler.domains.states import DomainStatus


def find_or_create(name: str, seeds: Iterable[str], config: dict[str, Any], filters: dict[str, Any]) -> Crawl:
    """The crawl of that name with this configuration. Raises InvalidURL for a seed that is none."""
    crawl = Crawl.objects.filter(name=name).first()
    if crawl is None:
        return actions.create_crawl(name, seeds, config, filters)
    if crawl.config != config:
        crawl.config = config
        crawl.save(update_fields=["config"])
    return crawl


def is_complete(crawl: Crawl) -> bool:
    """Nothing is left to do for it: every URL was dealt with, or its page budget is used up."""
    if crawl.status != CrawlStatus.COMPLETED or not crawl.pages_crawled:
        return False
    limit = (crawl.config or {}).get("max_pages")
    return crawl.pages_queued <= 0 or (limit is not None and crawl.pages_crawled >= limit)


@transaction.atomic
def take_up(crawl: Crawl, *, again: bool = False) -> CrawlRun:
    """Set it running.

    Domains that did not answer are tried again, with `again` those that refused us, too. Every URL is visited once more
    when the crawl is complete (why else take it up) and when it brought nothing at all.
    """
    if is_complete(crawl) or (crawl.status == CrawlStatus.COMPLETED and not crawl.pages_crawled):
        actions.queue_again(crawl)
    free_domains(crawl, (DomainStatus.UNREACHABLE, *((DomainStatus.BLOCKED,) if again else ())))
    run = actions.start_crawl(crawl)
    crawl.refresh_from_db()
    return run


def free_domains(crawl: Crawl, statuses: Iterable[DomainStatus]) -> int:
    """End the cooldown of the crawl's domains: somebody who asks again has reason to think that it helps."""
    waiting = FrontierURL.objects.filter(crawl=crawl, status=UrlStatus.PENDING).values("domain")
    return Domain.objects.filter(status__in=list(statuses), name__in=waiting).update(
        status=DomainStatus.PENDING, block_reason=None, block_reason_code=None, next_crawl_after=None
    )


@transaction.atomic
def release_dead_claims(mark: str) -> int:
    """Give back the domains and the pages that dead workers held; how many domains."""
    PageBudget.objects.filter(worker__startswith=mark).delete()
    return Domain.objects.filter(claimed_by__startswith=mark).update(claimed_by=None, claim_expires_at=None)
