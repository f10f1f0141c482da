from __future__ import annotations

import time

from crawler.bots.exact_json import dumps
from crawler.bots.models import WebhookDelivery
from crawler.bots.products.changes import as_shown
from crawler.bots.webhooks.signing import signature
from crawler.fetch.posting import PostRequest

TIMEOUT_SECONDS = 10.0
MOST_ANSWER_BYTES = 4096


def body_of(delivery: WebhookDelivery) -> bytes:
    """The same for every attempt, so a receiver may compare. `id` is what to know a repetition by."""
    message = {"id": delivery.id, "event": delivery.event, "webhook_id": delivery.webhook_id}
    if delivery.change is None:
        message |= {"at": delivery.created_at, "message": "This is a test: the webhook works."}
    else:
        message |= {"at": delivery.change.created_at, "change": as_shown(delivery.change)}
    return dumps(message).encode()


def request_for(delivery: WebhookDelivery) -> PostRequest:
    body, now = body_of(delivery), int(time.time())
    headers = (
        ("Content-Type", "application/json"),
        ("Accept", "*/*"),
        ("X-Crawlspace-Event", delivery.event),
        ("X-Crawlspace-Delivery", str(delivery.id)),
        ("X-Crawlspace-Attempt", str(delivery.attempts + 1)),
        ("X-Crawlspace-Timestamp", str(now)),
        ("X-Crawlspace-Signature", signature(delivery.webhook.secret, now, body)),
    )
    return PostRequest(
        url=delivery.webhook.url,
        headers=headers,
        timeout_seconds=TIMEOUT_SECONDS,
        max_body_bytes=MOST_ANSWER_BYTES,
        body=body,
    )
