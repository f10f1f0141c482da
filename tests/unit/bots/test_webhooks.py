"""Who is told about which change, how often, and what becomes of it."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils.datastructures import CaseInsensitiveMapping

from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import AuditEntry
from crawler.bots import actions, tasks
from crawler.bots.actions.changes import _publish_batch
from crawler.bots.actions.deliveries import MOST_ATTEMPTS, TABLE, Answer, finish_delivery, wait_seconds
from crawler.bots.models import ProductChange, ProductURL, Webhook, WebhookDelivery
from crawler.bots.webhooks import courier, messages
from crawler.bots.webhooks.courier import deliver_due
from crawler.foundation import lease
from crawler.foundation.clock import database_now
from crawler.foundation.errors import Conflict, InvalidInput
from crawler.foundation.ids import new_id
from crawler.frontier.bulk import uuid_key
from tests.api.bots import policy_for
from tests.unit.bots.receiver import Receiver, allow_loopback, receiving

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    allow_loopback(settings)
    with receiving() as made:
        yield made


@pytest.fixture
def product() -> ProductURL:
    policy_for()
    actions.add_product_urls(["https://example.com/1"])
    return ProductURL.objects.get()


def change(product: ProductURL, kind: str = "price_down", percent: str | None = "10", **more: Any) -> ProductChange:
    fields: dict[str, Any] = {
        "kind": kind, "product_url_hash": product.pk, "domain_id": product.domain_id, "result_id": new_id(),
        "url": product.url, "title": "Tea", "price": Decimal("9"), "currency": "EUR", "in_stock": True,
        "previous_price": Decimal("10"), "previous_currency": "EUR", "previous_in_stock": True,
        "percent_at_most": percent and Decimal(percent),
    }  # fmt: skip
    return ProductChange.objects.create(**(fields | more))


def hook(url: str = "https://receiver.example/", **fields: Any) -> Webhook:
    return actions.create_webhook(SYSTEM, url, **fields)[0]


def told(webhook: Webhook) -> list[str]:
    return list(webhook.deliveries.order_by("change__number").values_list("event", flat=True))


def test_changes_are_numbered_and_told_once(product: ProductURL) -> None:
    webhook = hook()
    for _ in range(3):
        change(product)
    assert (actions.publish_changes(), actions.publish_changes()) == (3, 0)
    assert list(ProductChange.objects.order_by("id").values_list("number", flat=True)) == [1, 2, 3]
    change(product)
    assert actions.publish_changes() == 1
    assert WebhookDelivery.objects.filter(webhook=webhook).count() == 4
    assert _publish_batch() == 0


@pytest.mark.parametrize(
    ("fields", "events"),
    [
        ({}, ["price_down", "price_up", "back_in_stock"]),
        ({"events": ["back_in_stock"]}, ["back_in_stock"]),
        ({"min_percent": Decimal("9.999999")}, ["price_down", "price_up", "back_in_stock"]),
        ({"min_percent": Decimal("10")}, ["price_up", "back_in_stock"]),
        ({"min_percent": Decimal("33.333333"), "events": ["price_up", "price_down"]}, ["price_up"]),
        ({"min_percent": Decimal("50"), "events": ["price_up"]}, []),
        ({"enabled": False}, []),
    ],
)
def test_which_changes_a_webhook_is_told(product: ProductURL, fields: dict[str, Any], events: list[str]) -> None:
    webhook = hook(**fields)
    change(product, "price_down", "10")
    change(product, "price_up", "33.333334")
    change(product, "back_in_stock", None)
    actions.publish_changes()
    assert told(webhook) == events


def test_webhooks_of_a_domain_and_of_a_policy(product: ProductURL) -> None:
    other = policy_for("other.example")
    hooks = [hook(domain=product.domain), hook(domain=other.domain), hook(policy=product.policy), hook(policy=other)]
    change(product)
    actions.publish_changes()
    assert [len(told(one)) for one in hooks] == [1, 0, 1, 0]


def test_a_message_is_signed_and_says_everything(product: ProductURL, receiver: Receiver) -> None:
    webhook = hook(receiver.url)
    change(product, price=Decimal("6.666667"), previous_price=Decimal(10))
    actions.publish_changes()
    assert deliver_due() == 1
    ((headers, body),) = receiver.got
    delivery = WebhookDelivery.objects.get()
    signed = f"{headers['x-crawlspace-timestamp']}.".encode() + body
    expected = hmac.new(webhook.secret.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["x-crawlspace-signature"] == f"sha256={expected}"
    assert (headers["content-type"], headers["x-crawlspace-event"]) == ("application/json", "price_down")
    (message,) = receiver.messages
    assert message["id"] == headers["x-crawlspace-delivery"] == str(delivery.id)
    assert message["change"]["url"] == product.url
    assert message["change"]["percent"] == -33.33333
    assert b'"price": 6.666667,' in body
    assert (delivery.status, delivery.attempts, delivery.response_status, delivery.response_excerpt) == (
        "delivered", 1, 200, "thanks",
    )  # fmt: skip
    assert deliver_due() == 0, "told once"


def test_the_guide_tells_how_to_check_a_message(product: ProductURL, receiver: Receiver) -> None:
    page = Path(__file__).parents[3] / "docs" / "guides" / "bots.md"
    (sample,) = (
        code for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL) if "is_genuine" in code
    )
    names: dict[str, Any] = {}
    exec(sample, names)
    webhook = hook(receiver.url)
    change(product)
    actions.publish_changes()
    deliver_due()
    ((headers, body),) = receiver.got
    shown = CaseInsensitiveMapping(headers)
    assert names["is_genuine"](webhook.secret, shown, body)
    assert not names["is_genuine"](webhook.secret, shown, body + b" ")
    assert not names["is_genuine"]("another", shown, body)


def due_again() -> None:
    WebhookDelivery.objects.filter(status="pending").update(next_attempt_at=database_now())


def test_failures_are_tried_again_by_the_same_id(product: ProductURL, receiver: Receiver) -> None:
    webhook = hook(receiver.url)
    change(product)
    actions.publish_changes()
    receiver.status, receiver.answer = 500, b"x" * 100_000
    assert deliver_due() == 1
    delivery = WebhookDelivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.error) == ("pending", 1, "answered 500 instead of 2xx")
    assert len(delivery.response_excerpt) == 500
    assert deliver_due() == 0, "not yet"
    webhook.refresh_from_db()
    assert webhook.failing_since is not None
    receiver.status = 204
    due_again()
    assert deliver_due() == 1
    first, second = receiver.got
    assert first[1] == second[1]
    assert second[0]["x-crawlspace-attempt"] == "2"
    webhook.refresh_from_db()
    assert webhook.failing_since is None


@pytest.mark.parametrize(
    ("status", "location", "error"),
    [(301, "https://elsewhere.example/", "answered 301 with another address"), (410, "", "answered 410")],
)
def test_only_2xx_is_success(product: ProductURL, receiver: Receiver, status: int, location: str, error: str) -> None:
    hook(receiver.url)
    receiver.status, receiver.location = status, location
    change(product)
    actions.publish_changes()
    deliver_due()
    assert error in WebhookDelivery.objects.get().error
    assert len(receiver.got) == 1


def test_private_addresses_are_refused(product: ProductURL, settings: Any) -> None:
    with pytest.raises(InvalidInput) as wrong:
        hook("http://127.0.0.1:9000/")
    assert "FETCH_ALLOWED_NETWORKS" in str(wrong.value.reason)
    hook("http://localhost:9/")
    change(product)
    actions.publish_changes()
    deliver_due()
    assert WebhookDelivery.objects.get().error.startswith("guard: ")


@pytest.mark.parametrize("url", ["nonsense", "ftp://x.example/", "https://user:secret@x.example/", "https://"])
def test_addresses_that_cannot_be_told_anything(url: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        hook(url)
    assert wrong.value.field == "url"
    assert not Webhook.objects.exists()


def test_waits_double_up_to_six_hours() -> None:
    waits = [wait_seconds(attempts) for attempts in range(1, MOST_ATTEMPTS)]
    assert waits[:4] == [60, 120, 240, 480]
    assert (waits[-1], len(waits)) == (6 * 3600, 11)


def held(delivery: WebhookDelivery) -> lease.Lease:
    key = uuid_key(connection.vendor, delivery.pk)
    (claimed,) = lease.claim(TABLE, "me", seconds=60, limit=1, where="id = %s", params=[key])
    return claimed


BAD = Answer(503, "", "answered 503 instead of 2xx", 5)


def test_giving_up_shows(product: ProductURL) -> None:
    hook()
    change(product)
    actions.publish_changes()
    for _ in range(MOST_ATTEMPTS):
        delivery = WebhookDelivery.objects.get()
        assert delivery.status == "pending"
        assert finish_delivery(held(delivery), delivery, BAD)
    delivery = WebhookDelivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.next_attempt_at) == ("failed", MOST_ATTEMPTS, None)
    actions.redeliver(SYSTEM, delivery)
    assert (delivery.status, delivery.attempts) == ("pending", 0)
    with pytest.raises(Conflict):
        actions.redeliver(SYSTEM, delivery)


def test_a_webhook_that_fails_for_days_is_switched_off(product: ProductURL) -> None:
    webhook = hook()
    change(product)
    actions.publish_changes()
    delivery = WebhookDelivery.objects.get()
    Webhook.objects.update(failing_since=database_now() - timedelta(days=2))
    finish_delivery(held(delivery), delivery, BAD)
    webhook.refresh_from_db()
    assert webhook.enabled
    Webhook.objects.update(failing_since=database_now() - timedelta(days=3, minutes=1))
    finish_delivery(held(delivery), delivery, BAD)
    webhook.refresh_from_db()
    assert not webhook.enabled
    assert "answered 503" in webhook.note
    assert AuditEntry.objects.filter(action="switched off").exists()
    due_again()
    assert deliver_due() == 0, "it rests"
    webhook = actions.change_webhook(SYSTEM, webhook, {"enabled": True})
    assert (webhook.note, webhook.failing_since) == ("", None)


def test_who_lost_the_lease_writes_nothing(product: ProductURL) -> None:
    hook()
    change(product)
    actions.publish_changes()
    delivery = WebhookDelivery.objects.get()
    lost = held(delivery)
    WebhookDelivery.objects.update(claim_expires_at=database_now() - timedelta(seconds=1))
    newer = held(delivery)
    assert not finish_delivery(lost, delivery, Answer(200, "", "", 1))
    assert finish_delivery(newer, delivery, BAD)
    assert WebhookDelivery.objects.get().attempts == 1


def test_what_somebody_sends_nobody_else_does(product: ProductURL, receiver: Receiver) -> None:
    hook(receiver.url)
    change(product)
    actions.publish_changes()
    held(WebhookDelivery.objects.get())
    assert deliver_due() == 0
    assert receiver.got == []


def test_a_slow_receiver_holds_up_only_itself(
    product: ProductURL, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "TIMEOUT_SECONDS", 60.0)
    slow = hook(receiver.url)
    with receiving() as quick:
        other = hook(quick.url)
        for _ in range(10):
            change(product)
        actions.publish_changes()
        receiver.gate.clear()
        sender = courier.Courier()
        try:
            while other.deliveries.filter(attempts=0).exists():
                sender._begin_more()
                for parcel, outcome in sender.poster.wait(1.0):
                    sender._ended(parcel, outcome)
            assert other.deliveries.filter(status="delivered").count() == 10
            assert not slow.deliveries.filter(status="delivered").exists()
            assert sender.under_way[slow.id] == courier.MOST_AT_ONCE_EACH
            receiver.gate.set()
            sender.run()
        finally:
            sender.close()
    assert slow.deliveries.filter(status="delivered").count() == 10
    assert {message["id"] for message in receiver.messages} == {str(one.id) for one in slow.deliveries.all()}


def test_the_scheduler_publishes(product: ProductURL) -> None:
    change(product)
    assert tasks.tell_webhooks() == "published 1 changes; no message is due"


def test_secrets_are_in_no_audit_line(product: ProductURL) -> None:
    webhook = hook()
    fresh = actions.rotate_secret(SYSTEM, webhook)
    actions.delete_webhook(SYSTEM, webhook)
    assert fresh.startswith("whsec_")
    for entry in AuditEntry.objects.all():
        assert "whsec_" not in f"{entry.before}{entry.after}{entry.reason}"
