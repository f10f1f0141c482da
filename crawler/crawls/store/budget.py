"""`max_pages` across workers: each sets pages aside before it fetches them and gives back what it did not use.

So a crawl never stores more than it may, however many processes work on it. What a dead worker had set aside is free
again when its time is up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.db import connection, transaction
from django.db.models import F, Sum
from django.db.models.functions import Now

from crawler.crawls.models import Crawl, PageBudget
from crawler.domains.claims import LEASE_SECONDS
from crawler.engine.contract import Outcome, PageOutcome
from crawler.foundation.clock import clock_of

# Pages that were stored; other outcomes cost nothing and are given back with the rest.
SPENT = frozenset({Outcome.PAGE, Outcome.UNCHANGED})


@transaction.atomic
def reserve(worker: str, crawl_id: int, pages: int) -> int:
    """Up to `pages` more for this worker; 0 when the budget is used up or set aside by others."""
    crawl = Crawl.objects.select_for_update().get(pk=crawl_id)
    limit = (crawl.config or {}).get("max_pages")
    if limit is None:
        return pages
    held = PageBudget.objects.filter(crawl=crawl, expires_at__gt=Now()).aggregate(sum=Sum("pages"))["sum"] or 0
    granted = int(max(0, min(pages, limit - crawl.pages_crawled - held)))
    if granted:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO crawl_page_budgets (crawl_id, worker, pages, expires_at)"
                f" VALUES (%s, %s, %s, {clock_of().later}) ON CONFLICT (crawl_id, worker) DO UPDATE SET"
                " pages = crawl_page_budgets.pages + excluded.pages, expires_at = excluded.expires_at",
                [crawl_id, worker, granted, LEASE_SECONDS],
            )
    return granted


def spend(worker: str, pages: Sequence[PageOutcome]) -> None:
    """Inside the commit: what was set aside becomes what was crawled."""
    for crawl_id, count in sorted(Counter(page.entry.crawl_id for page in pages if page.outcome in SPENT).items()):
        PageBudget.objects.filter(crawl_id=crawl_id, worker=worker, pages__gte=count).update(pages=F("pages") - count)


def renew(worker: str) -> None:
    """What is set aside stays so as long as the worker lives, however slowly its hosts are to be asked."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE crawl_page_budgets SET expires_at = {clock_of().later} WHERE worker = %s", [LEASE_SECONDS, worker]
        )


def give_back(worker: str) -> None:
    PageBudget.objects.filter(worker=worker).delete()
