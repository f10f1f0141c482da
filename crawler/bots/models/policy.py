from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Min, Q
from django.db.models.functions import Now

from crawler.bots.backoff import next_due
from crawler.domains.models import Domain
from crawler.engine.scope import InvalidPattern, Patterns
from crawler.foundation.clock import database_now

if TYPE_CHECKING:
    from crawler.bots.models.product import ProductURL

LOWEST_PRIORITY, HIGHEST_PRIORITY = 1, 20


def check_pattern(pattern: str) -> None:
    try:
        Patterns([pattern])
    except InvalidPattern as error:
        raise ValidationError(f"Not a regular expression: {error.reason}") from None


class CrawlPolicy(models.Model):
    """When and how the URLs of a domain are visited: all of them, or those its pattern is found in.

    A URL belongs to one policy: of those that match, the one with the highest priority (then the oldest). A policy that
    is switched off keeps its URLs; they rest.
    """

    domain = models.ForeignKey(Domain, on_delete=models.CASCADE, related_name="crawl_policies")
    name = models.CharField(max_length=200)
    url_pattern = models.TextField(
        blank=True,
        default="",
        db_default="",
        validators=[check_pattern],
        help_text="A regular expression (RE2) searched in the URL. Empty: every URL of the domain.",
    )
    frequency_hours = models.PositiveIntegerField(default=24, db_default=24, validators=[MinValueValidator(1)])
    priority = models.PositiveSmallIntegerField(
        default=5,
        db_default=5,
        validators=[MinValueValidator(LOWEST_PRIORITY), MaxValueValidator(HIGHEST_PRIORITY)],
        help_text="1 to 20, highest first.",
    )
    max_retries = models.PositiveSmallIntegerField(
        default=3, db_default=3, validators=[MinValueValidator(1)], help_text="Attempts, all told."
    )
    retry_backoff_minutes = models.PositiveIntegerField(default=5, db_default=5, validators=[MinValueValidator(1)])
    timeout_seconds = models.PositiveIntegerField(
        default=600, db_default=600, validators=[MinValueValidator(1)], help_text="How long a bot's lock lasts."
    )
    requeue_expired = models.BooleanField(
        default=False, db_default=False, help_text="A lock that ends counts as a failed attempt instead of waiting."
    )
    respect_host_limits = models.BooleanField(
        default=True, db_default=True, help_text="Hand out no more URLs of a host than it may be asked for."
    )
    enabled = models.BooleanField(default=True, db_default=True)
    # False until the domain's URLs were looked through after the last change of pattern or priority.
    is_assigned = models.BooleanField(default=False, db_default=False, editable=False)
    # Only for a policy that has no URLs yet: see next_run_at.
    failure_streak = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    own_next_run_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "crawl_policies"
        verbose_name = "crawl policy"
        verbose_name_plural = "crawl policies"
        ordering = ("domain", "-priority", "id")
        constraints = [
            models.UniqueConstraint(name="crawl_policies_name", fields=["domain", "name"]),
            models.CheckConstraint(
                name="crawl_policies_priority",
                condition=Q(priority__gte=LOWEST_PRIORITY, priority__lte=HIGHEST_PRIORITY),
            ),
            models.CheckConstraint(
                name="crawl_policies_numbers",
                condition=Q(
                    frequency_hours__gte=1, max_retries__gte=1, retry_backoff_minutes__gte=1, timeout_seconds__gte=1
                ),
            ),
        ]
        indexes = [models.Index(name="crawl_policies_unassigned", fields=["domain"], condition=Q(is_assigned=False))]

    def __str__(self) -> str:
        return f"{self.domain.name} - {self.name}"

    def save(self, *args: Any, **options: Any) -> None:
        """A change of what it covers is taken up by the scheduler's next round."""
        check_pattern(self.url_pattern)
        if self.pk and options.get("update_fields") is None:
            old = CrawlPolicy.objects.filter(pk=self.pk).values_list("domain_id", "url_pattern", "priority").first()
            if old and old != (self.domain_id, self.url_pattern, self.priority):
                self.is_assigned = False
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> tuple[int, dict[str, int]]:
        """Its URLs go to the domain's other policies in the scheduler's next round."""
        CrawlPolicy.objects.filter(domain=self.domain_id).update(is_assigned=False)
        return super().delete(*args, **options)

    @property
    def next_run_at(self) -> datetime | None:
        """The earliest due time of its URLs; None while all of them are being worked on."""
        earliest: datetime | None = self.urls.aggregate(earliest=Min("next_due_at"))["earliest"]
        return earliest or self.own_next_run_at

    def schedule_next_run(self, *, success: bool, product_url: ProductURL | None = None) -> datetime:
        """When `product_url` is due after this outcome, which is noted in its row. Without one: the same for the policy
        as a whole, which counts while none of its URLs has a due time."""
        noted = product_url or self
        noted.failure_streak = 0 if success else min(noted.failure_streak + 1, 1000)
        due = next_due(self, database_now(), noted.failure_streak)
        if product_url:
            product_url.next_due_at = due
            product_url.save(update_fields=["failure_streak", "next_due_at"])
        else:
            self.own_next_run_at = due
            self.save(update_fields=["failure_streak", "own_next_run_at"])
        return due

    @property
    def lock_duration(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)
