from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from crawler.bots.exact import PriceField
from crawler.bots.hash_field import HashField
from crawler.domains.models import Domain


class ChangeKind(models.TextChoices):
    PRICE_UP = "price_up", "the price went up"
    PRICE_DOWN = "price_down", "the price went down"
    CURRENCY_CHANGED = "currency_changed", "the price is in another currency"
    BACK_IN_STOCK = "back_in_stock", "it can be bought again"
    OUT_OF_STOCK = "out_of_stock", "it cannot be bought any more"


class ProductChange(models.Model):
    """What a result said otherwise than the one before it. Written with the result, never changed but for its number.

    `number` is given by `publish_changes`, one after the other: whoever has seen number 7 will never be shown a new
    number below it, whichever of two submits was committed first.
    """

    id = models.BigAutoField(primary_key=True)
    number = models.BigIntegerField(null=True, unique=True)
    published_at = models.DateTimeField(null=True)
    kind = models.CharField(max_length=16, choices=ChangeKind.choices)
    # No constraints in the database: a change outlives its product and costs a submit as little as possible.
    product_url_hash = HashField()
    domain = models.ForeignKey(Domain, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False)
    result_id = models.UUIDField()
    url = models.TextField()
    title = models.TextField(blank=True, default="", db_default="")
    price = PriceField()
    currency = models.CharField(max_length=3)
    in_stock = models.BooleanField()
    previous_price = PriceField()
    previous_currency = models.CharField(max_length=3)
    previous_in_stock = models.BooleanField()
    # How far the price went, in millionths of a percent rounded up, so that "more than X" is exact; see percent.py.
    percent_at_most = PriceField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "product_changes"
        verbose_name = "product change"
        ordering = ("-id",)
        indexes = [
            models.Index(name="product_changes_unpublished", fields=["id"], condition=Q(number=None)),
            models.Index(name="product_changes_product", fields=["product_url_hash", "number"]),
            models.Index(name="product_changes_domain", fields=["domain", "number"]),
            models.Index(name="product_changes_published", fields=["published_at", "number"]),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.url}"
