"""A product's next visit, brought forward by a person."""

from __future__ import annotations

from django.db import transaction
from django.db.models.functions import Now

from crawler.accounts import audit
from crawler.accounts.actors import Actor
from crawler.bots.models import CrawlJob, ProductURL
from crawler.bots.states import OPEN
from crawler.foundation.errors import Conflict


@transaction.atomic
def make_due(by: Actor, product: ProductURL, *, reason: str = "") -> ProductURL:
    """Due now: the scheduler's next round makes a job of it. Raises Conflict when that cannot be."""
    product = ProductURL.objects.select_for_update(of=("self",)).select_related("policy").get(pk=product.pk)
    _check(product)
    old = {"next_due_at": str(product.next_due_at) if product.next_due_at else None}
    ProductURL.objects.filter(pk=product.pk).update(next_due_at=Now())
    product.refresh_from_db()
    audit.record(by, "made due", product, reason=reason, before=old, after={"next_due_at": str(product.next_due_at)})
    return product


def _check(product: ProductURL) -> None:
    if product.policy is None:
        raise Conflict("No policy covers this URL", field="policy", reason="a URL without a policy is never due")
    if not product.policy.enabled:
        raise Conflict("Its policy is switched off", field="policy", reason=f"'{product.policy.name}' is not enabled")
    if CrawlJob.objects.filter(product_url_hash=product.pk, status__in=list(OPEN)).exists():
        raise Conflict("Its URL has an open job", field="status", reason="a URL has one open job at a time")
