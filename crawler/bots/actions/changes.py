"""Changes get their numbers, and webhooks their deliveries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db import connection, transaction

from crawler.bots.models import ProductChange, ProductURL, Webhook, WebhookDelivery
from crawler.bots.webhooks.matching import wants
from crawler.foundation.clock import clock_of

BATCH = 2_000
# One numbers at a time, so numbers become visible in their order. SQLite has one writer anyway.
LOCK = "SELECT pg_advisory_xact_lock(hashtext('crawlspace.product_changes'))"
NUMBER = (
    "UPDATE product_changes SET number = %s + place, published_at = {now} FROM (SELECT id AS found,"
    " row_number() OVER (ORDER BY id) AS place FROM product_changes WHERE number IS NULL ORDER BY id LIMIT %s)"
    " AS waiting WHERE id = found"
)


def publish_changes(most_batches: int = 50) -> int:
    """Number what was not numbered yet and make a delivery for every webhook that wants it, once. How many."""
    total = 0
    for _ in range(most_batches):
        if not ProductChange.objects.filter(number=None).exists():
            break
        total += _publish_batch()
    return total


@transaction.atomic
def _publish_batch() -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(LOCK)
        cursor.execute("SELECT coalesce(max(number), 0) FROM product_changes")
        (last,) = cursor.fetchone()
        cursor.execute(NUMBER.format(now=clock_of().now_exact), [last, BATCH])
        count = int(cursor.rowcount)
    webhooks = list(Webhook.objects.filter(enabled=True))
    if webhooks:
        published = list(ProductChange.objects.filter(number__gt=last).order_by("number"))
        WebhookDelivery.objects.bulk_create(_deliveries(webhooks, published), batch_size=1000, ignore_conflicts=True)
    return count


def _deliveries(webhooks: list[Webhook], changes: Iterable[ProductChange]) -> Iterator[WebhookDelivery]:
    policies = _policies_of(changes) if any(webhook.policy_id for webhook in webhooks) else {}
    for change in changes:
        for webhook in webhooks:
            if wants(webhook, change, policies.get(change.product_url_hash)):
                yield WebhookDelivery(webhook=webhook, change=change, event=change.kind)


def _policies_of(changes: Iterable[ProductChange]) -> dict[str, int | None]:
    hashes = {change.product_url_hash for change in changes}
    return dict(ProductURL.objects.filter(pk__in=hashes).values_list("url_hash", "policy_id"))
