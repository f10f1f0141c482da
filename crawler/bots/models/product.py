from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from crawler.bots.exact import PriceField
from crawler.bots.hash_field import HashField
from crawler.bots.identity import identify
from crawler.bots.models.policy import CrawlPolicy
from crawler.bots.models.url_start import UrlStart
from crawler.domains.models import Domain
from crawler.engine.scope import Patterns
from crawler.foundation.clock import database_now


def let_rest(collector: Any, field: Any, urls: Any, using: str) -> None:
    """When their policy is deleted, URLs have none and are not due; both by statements, however many they are."""
    collector.add_field_update(ProductURL._meta.get_field("next_due_at"), None, urls)
    collector.add_field_update(field, None, urls)


let_rest.lazy_sub_objs = True  # type: ignore[attr-defined]


class ProductURL(models.Model):
    """A product's page, known by the hash of its normalised URL; which policy it belongs to and when it is due."""

    url_hash = HashField(primary_key=True, editable=False)
    url = models.TextField()
    domain = models.ForeignKey(Domain, on_delete=models.CASCADE, related_name="product_urls", db_index=False)
    policy = models.ForeignKey(CrawlPolicy, on_delete=let_rest, null=True, db_index=False, related_name="urls")
    # None: not covered by a policy, or it has a job that is not over yet.
    next_due_at = models.DateTimeField(null=True)
    failure_streak = models.PositiveSmallIntegerField(default=0, db_default=0)
    last_price = PriceField(null=True)
    last_currency = models.CharField(max_length=3, null=True)
    last_in_stock = models.BooleanField(null=True)
    last_title = models.TextField(null=True)
    last_result_at = models.DateTimeField(null=True)
    last_changed_at = models.DateTimeField(null=True)  # when price, currency or stock last differed from before
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "product_urls"
        verbose_name = "product URL"
        constraints = [
            models.CheckConstraint(
                name="product_urls_due_has_policy", condition=Q(next_due_at=None) | Q(policy__isnull=False)
            ),
        ]
        indexes = [
            # The scheduler's: what is due of a policy, and a policy's earliest.
            models.Index(name="product_urls_due", fields=["policy", "next_due_at"], condition=~Q(next_due_at=None)),
            # Lists for people: page by page along one of these.
            models.Index(F("domain"), UrlStart("url"), name="product_urls_of_domain"),
            models.Index(
                name="product_urls_by_price", fields=["last_price", "url_hash"], condition=~Q(last_price=None)
            ),
            models.Index(
                name="product_urls_by_change",
                fields=["last_changed_at", "url_hash"],
                condition=~Q(last_changed_at=None),
            ),
        ]

    def __str__(self) -> str:
        return self.url

    def save(self, *args: Any, **options: Any) -> None:
        """A new one gets its hash, its domain and its policy. For many at once: actions.add_product_urls."""
        if self._state.adding:
            self._settle_in()
        super().save(*args, **options)

    def _settle_in(self) -> None:
        known = identify(self.url)
        self.url_hash, self.url = known.url_hash, known.url
        if self.domain_id is None:
            self.domain, _ = Domain.objects.get_or_create(name=known.domain, defaults={"source": "bots"})
        if self.policy_id is None:
            self.policy = policy_for(self.domain_id, self.url)
        if self.policy_id is not None and self.next_due_at is None:
            self.next_due_at = database_now()


def policy_for(domain_id: Any, url: str) -> CrawlPolicy | None:
    """Of the domain's policies that match, the one with the highest priority."""
    for policy in CrawlPolicy.objects.filter(domain=domain_id).order_by("-priority", "id"):
        if not policy.url_pattern or Patterns([policy.url_pattern]).first_in(url) is not None:
            return policy
    return None
