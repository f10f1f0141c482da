from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from crawler.bots.exact import PriceField
from crawler.bots.hash_field import HashField
from crawler.bots.models.job import CrawlJob
from crawler.foundation.ids import new_id


class CrawlResult(models.Model):
    """What a bot found. One a job, never changed. Also knows what the result before it said, so that a change shows
    without looking back."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # No database constraint: results outlive old jobs.
    job = models.OneToOneField(CrawlJob, on_delete=models.DO_NOTHING, db_constraint=False, related_name="result")
    product_url_hash = HashField()
    bot_id = models.CharField(max_length=100)
    price = PriceField()
    currency = models.CharField(max_length=3)
    title = models.TextField(blank=True, default="", db_default="")
    in_stock = models.BooleanField(default=True, db_default=True)
    parsed_data = models.JSONField(default=dict)
    storage_path = models.TextField(null=True)  # where raw_html lies in the archive
    previous_price = PriceField(null=True)
    previous_currency = models.CharField(max_length=3, null=True)
    previous_in_stock = models.BooleanField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "crawl_results"
        verbose_name = "crawl result"
        ordering = ("-id",)
        constraints = [models.CheckConstraint(name="crawl_results_price", condition=Q(price__gte=0))]
        indexes = [
            models.Index(name="crawl_results_product", fields=["product_url_hash", "-id"]),
            models.Index(name="crawl_results_bot", fields=["bot_id", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.price} {self.currency}"
