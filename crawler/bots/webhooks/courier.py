"""Sends what is due: many receivers at once, at most a few messages to each, so that a slow one holds up only itself.

Each message is sent under a lease, so of two processes only one sends it at a time. A courier that dies leaves leases
that end by themselves; then the message is sent again, by the same id.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef

from crawler.bots.actions.deliveries import TABLE, Answer, finish_delivery
from crawler.bots.models import DeliveryStatus, Webhook, WebhookDelivery
from crawler.bots.values import as_uuid
from crawler.bots.webhooks.messages import request_for
from crawler.fetch.client import fetch_one
from crawler.fetch.guard import Guard
from crawler.fetch.outcome import Failure, Response
from crawler.fetch.posting import Poster
from crawler.foundation import lease
from crawler.foundation.clock import clock_of, database_now
from crawler.foundation.ids import short_id
from crawler.frontier.bulk import uuid_key

log = logging.getLogger(__name__)

# Longer than a look-up of the name and the request may take together.
LEASE_SECONDS = 90
MOST_AT_ONCE, MOST_AT_ONCE_EACH = 64, 4
RUN_SECONDS = 60.0
EXCERPT_LETTERS = 500


class Parcel(NamedTuple):
    delivery: WebhookDelivery
    held: lease.Lease


class Courier:
    """Close it in the end."""

    def __init__(self) -> None:
        config = settings.CRAWLSPACE
        self.holder = short_id("courier")
        guard = Guard(config.fetch_allowed_networks)
        self.poster = Poster(guard, user_agent=config.user_agent, max_connections=MOST_AT_ONCE)
        self.under_way: Counter[UUID] = Counter()  # by webhook

    def run(self, seconds: float = RUN_SECONDS) -> int:
        """Until nothing is due, or the time is over and what was begun has ended. How many were sent."""
        ends_at, sent = monotonic() + seconds, 0
        while True:
            if monotonic() < ends_at:
                self._begin_more()
            if not self.poster.in_flight:
                return sent
            for parcel, outcome in self.poster.wait(1.0):
                self._ended(parcel, outcome)
                sent += 1

    def send_now(self, parcel: Parcel) -> None:
        """One alone, waited for."""
        finish_delivery(parcel.held, parcel.delivery, answer_of(fetch_one(self.poster, request_for(parcel.delivery))))

    def close(self) -> None:
        self.poster.close()

    def _begin_more(self) -> None:
        for webhook_id in _webhooks_with_work():
            room = min(MOST_AT_ONCE_EACH - self.under_way[webhook_id], MOST_AT_ONCE - self.poster.in_flight)
            for parcel in self._claim(webhook_id, room) if room > 0 else ():
                self.under_way[webhook_id] += 1
                self.poster.start(request_for(parcel.delivery), parcel)

    def _claim(self, webhook_id: UUID, limit: int) -> list[Parcel]:
        held = lease.claim(
            TABLE,
            self.holder,
            seconds=LEASE_SECONDS,
            limit=limit,
            where=f"webhook_id = %s AND status = 'pending' AND next_attempt_at <= {clock_of().now}",
            params=[uuid_key(connection.vendor, webhook_id)],
            order_by="next_attempt_at",
        )
        rows = WebhookDelivery.objects.select_related("webhook", "change__domain")
        found = rows.in_bulk([as_uuid(one.key) for one in held])
        return [Parcel(found[as_uuid(one.key)], one) for one in held if as_uuid(one.key) in found]

    def _ended(self, parcel: Parcel, outcome: Response | Failure) -> None:
        self.under_way[parcel.delivery.webhook_id] -= 1
        if not finish_delivery(parcel.held, parcel.delivery, answer_of(outcome)):
            log.warning("a delivery outlived its lease; its outcome was not kept", extra={"id": parcel.held.key})


def _webhooks_with_work() -> list[UUID]:
    due = WebhookDelivery.objects.filter(
        webhook=OuterRef("pk"), status=DeliveryStatus.PENDING, next_attempt_at__lte=database_now()
    )
    return list(Webhook.objects.filter(Exists(due), enabled=True).values_list("pk", flat=True))


def answer_of(outcome: Response | Failure) -> Answer:
    milliseconds = round(outcome.seconds * 1000)
    if isinstance(outcome, Failure):
        return Answer(None, "", f"{outcome.kind.value}: {outcome.message}", milliseconds)
    excerpt = outcome.body.decode("utf-8", "replace").replace("\0", "\ufffd")[:EXCERPT_LETTERS]
    return Answer(outcome.status, excerpt, _complaint(outcome), milliseconds)


def _complaint(response: Response) -> str:
    if 200 <= response.status < 300:
        return ""
    if 300 <= response.status < 400 and response.location:
        return f"answered {response.status} with another address, {response.location[:200]}; redirects are not followed"
    return f"answered {response.status} instead of 2xx"


class Background:
    """A courier in a thread of its own, so that no receiver holds up the scheduler."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None

    def start_if_needed(self) -> bool:
        """True when one is under way."""
        if self.thread and self.thread.is_alive():
            return True
        if not _webhooks_with_work():
            return False
        self.thread = threading.Thread(target=self._run, name="webhook-courier", daemon=True)
        self.thread.start()
        return True

    def _run(self) -> None:
        try:
            log.info("sent %s webhook messages", deliver_due())
        except Exception:
            log.exception("sending webhooks failed; it will be tried again")
        finally:
            connection.close()


BACKGROUND = Background()


def deliver_due(seconds: float = RUN_SECONDS) -> int:
    """Send what is due, here and now."""
    return _with_courier(lambda courier: courier.run(seconds))  # type: ignore[no-any-return]


def deliver_one(delivery: WebhookDelivery, held: lease.Lease) -> None:
    """Send one that the caller has claimed, and wait for its answer."""
    _with_courier(lambda courier: courier.send_now(Parcel(delivery, held)))


def _with_courier(work: Any) -> Any:
    courier = Courier()
    try:
        return work(courier)
    finally:
        courier.close()
