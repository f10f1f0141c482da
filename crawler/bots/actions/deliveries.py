"""What became of an attempt to tell a webhook something."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import connection, transaction

from crawler.accounts import audit
from crawler.accounts.actors import SYSTEM, Actor
from crawler.bots.models import DeliveryStatus, Webhook, WebhookDelivery
from crawler.foundation import lease
from crawler.foundation.clock import clock_of, database_now
from crawler.foundation.errors import Conflict
from crawler.foundation.ids import new_id, short_id
from crawler.frontier.bulk import uuid_key

TABLE = lease.LeaseTable(WebhookDelivery._meta.db_table)
# 1 minute, doubling up to 6 hours: the last attempt is some 21 hours after the first.
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS, MOST_ATTEMPTS = 60, 6 * 3600, 12
PATIENCE = timedelta(days=3)
PING_SECONDS = 90


class Answer(NamedTuple):
    status: int | None  # None: there was no answer
    excerpt: str
    error: str  # empty: 2xx
    milliseconds: int


def wait_seconds(attempts: int) -> int:
    """Until the next attempt after so many."""
    return min(FIRST_WAIT_SECONDS << (attempts - 1), LONGEST_WAIT_SECONDS)


@transaction.atomic
def finish_delivery(held: lease.Lease, delivery: WebhookDelivery, answer: Answer) -> bool:
    """Note what came of an attempt and when the next one is due. False when the lease is not held any more."""
    attempts = delivery.attempts + 1
    status, wait = _next(delivery, attempts, answer)
    clock = clock_of()
    due = f"next_attempt_at = {clock.later}" if wait is not None else "next_attempt_at = NULL"
    kept = lease.finish_if_held(
        TABLE,
        held,
        f"status = %s, attempts = %s, attempted_at = {clock.now_exact}, response_status = %s, response_excerpt = %s,"
        f" error = %s, milliseconds = %s, {due}",
        [status, attempts, answer.status, answer.excerpt, answer.error[:1000], answer.milliseconds]
        + ([wait] if wait is not None else []),
    )
    if kept and delivery.event != WebhookDelivery.PING:
        _note_health(delivery.webhook_id, answer)
    return kept


def _next(delivery: WebhookDelivery, attempts: int, answer: Answer) -> tuple[DeliveryStatus, int | None]:
    if not answer.error:
        return DeliveryStatus.DELIVERED, None
    if attempts >= MOST_ATTEMPTS or delivery.event == WebhookDelivery.PING:
        return DeliveryStatus.FAILED, None
    return DeliveryStatus.PENDING, wait_seconds(attempts)


def _note_health(webhook_id: UUID, answer: Answer) -> None:
    """A webhook of which nothing arrived for three days is switched off, with a note that says so."""
    webhook = Webhook.objects.select_for_update().filter(pk=webhook_id).first()
    if webhook is None or (not answer.error and webhook.failing_since is None):
        return
    now = database_now()
    webhook.failing_since = (webhook.failing_since or now) if answer.error else None
    if webhook.failing_since and now - webhook.failing_since >= PATIENCE and webhook.enabled:
        webhook.enabled = False
        webhook.note = f"Switched off: nothing arrived since {webhook.failing_since:%Y-%m-%d %H:%M} UTC. Last: "
        webhook.note += answer.error[:300]
        audit.record(SYSTEM, "switched off", webhook, reason=webhook.note)
    webhook.save(update_fields=["failing_since", "enabled", "note"])


def redeliver(by: Actor, delivery: WebhookDelivery) -> WebhookDelivery:
    """Send it again soon, with all its attempts, by the same id. Raises Conflict while it waits to be sent anyway."""
    again = {"status": DeliveryStatus.PENDING, "attempts": 0, "next_attempt_at": database_now()}
    over = WebhookDelivery.objects.filter(pk=delivery.pk).exclude(status=DeliveryStatus.PENDING)
    with transaction.atomic():
        if not over.update(**again):
            raise Conflict("This delivery waits to be sent already", field="delivery_id", reason="it is pending")
        audit.record(by, "redelivered", delivery)
    delivery.refresh_from_db()
    return delivery


def claim_ping(webhook: Webhook) -> tuple[WebhookDelivery, lease.Lease]:
    """A test message that nobody else will send."""
    holder, key = short_id("ping"), new_id()
    delivery = WebhookDelivery.objects.create(
        id=key,
        webhook=webhook,
        event=WebhookDelivery.PING,
        claimed_by=holder,
        claim_expires_at=database_now() + timedelta(seconds=PING_SECONDS),
        version=1,
    )
    delivery.refresh_from_db()
    return delivery, lease.Lease(uuid_key(connection.vendor, key), holder, 1)
