"""Lists of tables with millions of rows: nothing is counted to the end, and what is long is sorted along an index."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ShowFacets
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

MOST_COUNTED = 5_000


def counted(rows: QuerySet[Any]) -> int:
    """How many there are, up to one more than we count."""
    return int(rows.order_by()[: MOST_COUNTED + 1].count())


def with_count(rows: QuerySet[Any], count: int) -> QuerySet[Any]:
    """For the paginator, which need not count again."""
    rows.bounded_count = count  # type: ignore[attr-defined]
    return rows


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    template_name = "admin/bots/pagination.html"

    @cached_property
    def counted(self) -> int:
        known: int | None = getattr(self.object_list, "bounded_count", None)
        return counted(self.object_list) if known is None else known  # type: ignore[arg-type]

    @property
    def count(self) -> int:
        return min(self.counted, MOST_COUNTED)

    @property
    def has_more(self) -> bool:
        """There are more rows than can be paged through."""
        return self.counted > MOST_COUNTED


class LargeChangeList(ChangeList):  # type: ignore[misc]
    """A list of moderate length is sorted by any column; a longer one only as an index has it."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        return self.bounded(request, super().get_queryset(request, exclude_parameters))

    def bounded(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        count = counted(rows)
        if count > MOST_COUNTED:
            rows = rows.order_by(*self.model_admin.ordering_of_many(request))
        return with_count(rows, count)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.full_result_count = self.result_count  # else the page offers to show all of them


class LargeTableAdmin(ModelAdmin):  # type: ignore[misc]
    paginator = BoundedPaginator
    show_full_result_count = False
    list_filter_submit = True
    list_per_page = 50
    show_facets = ShowFacets.NEVER  # they count everything

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[LargeChangeList]:
        return LargeChangeList

    def ordering_of_many(self, request: HttpRequest) -> tuple[str, ...]:
        """An order that an index has."""
        return ("-pk",)
