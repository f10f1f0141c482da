"""The list of jobs. No index has all jobs of a domain or of a bot: those of each state have their own."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from crawler.bots.admin import queries
from crawler.bots.admin.large import MOST_COUNTED, LargeChangeList, with_count
from crawler.bots.models import CrawlJob
from crawler.bots.models.in_states import in_states
from crawler.bots.states import CLOSED, JobState

Jobs = QuerySet[CrawlJob]
# States whose indexes are of a kind, and an order in which the newest are found quickly.
KINDS = (((JobState.PENDING,), "-id"), ((JobState.LOCKED,), "-created_at"), (CLOSED, "-created_at"))
NEWEST_FIRST = ("-created_at", "-id")
NARROWING = ("q", "domain", "policy__id__exact", "bot")


class JobChangeList(LargeChangeList):
    def bounded(self, request: HttpRequest, rows: Jobs) -> Jobs:
        is_narrowed = any(request.GET.get(name) for name in NARROWING)
        if request.GET.get("status") or not is_narrowed:
            return super().bounded(request, rows)
        newest, count = newest_of(rows, self.page_num * self.list_per_page)
        shown = CrawlJob.objects.select_related("policy").filter(pk__in=newest)  # they passed all filters already
        order = NEWEST_FIRST if count > MOST_COUNTED else rows.query.order_by
        return with_count(shown.order_by(*order), count)

    def get_results(self, request: HttpRequest) -> None:
        """With the URLs of the whole page from one query."""
        super().get_results(request)
        urls = queries.urls_by_hash(job.product_url_hash for job in self.result_list)
        for job in self.result_list:
            job.shown_url = urls.get(job.product_url_hash, "(removed)")


def newest_of(rows: Jobs, wanted: int) -> tuple[list[Any], int]:
    """All of them, as far as we count; of more, as many of the newest as are wanted. And how many there are."""
    found: list[tuple[Any, Any]] = []
    for states, order in KINDS:
        of_kind = rows.filter(in_states(*states)).order_by(order).values_list("created_at", "pk")
        found += of_kind[: MOST_COUNTED + 1]
    count = len(found)
    if count > MOST_COUNTED:
        found = sorted(found, reverse=True)[:wanted]
    return [key for _, key in found], min(count, MOST_COUNTED + 1)
