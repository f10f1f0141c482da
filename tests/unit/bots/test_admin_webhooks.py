"""The pages of webhooks: what is sent, what became of it, and no secrets."""

from __future__ import annotations

import pytest

from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import AuditEntry
from crawler.bots import actions
from crawler.bots.models import Webhook, WebhookDelivery
from crawler.bots.models.webhook import DeliveryStatus
from tests.unit.bots.admin_browser import browser_of, place, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def webhook() -> Webhook:
    return actions.create_webhook(SYSTEM, "https://example.com/prices", events=["price_down"])[0]


@pytest.fixture
def delivery(webhook: Webhook) -> WebhookDelivery:
    return WebhookDelivery.objects.create(
        webhook=webhook, event="price_down", status=DeliveryStatus.FAILED, attempts=12, error="answered 500"
    )


def test_the_secret_is_nowhere(webhook: Webhook) -> None:
    for page in (place("webhook"), place("webhook", "change", webhook.pk)):
        text = text_of(browser_of("admin").get(page))
        assert "https://example.com/prices" in text
        assert webhook.secret not in text


def test_webhooks_are_switched_by_operators_only(webhook: Webhook) -> None:
    chosen = {"action": "disable", "_selected_action": [str(webhook.pk)]}
    browser_of("viewer").post(place("webhook"), chosen)
    webhook.refresh_from_db()
    assert webhook.enabled
    browser_of("operator").post(place("webhook"), chosen)
    webhook.refresh_from_db()
    assert not webhook.enabled
    assert AuditEntry.objects.get(action="changed").actor == "the-operator"


def test_a_message_that_was_given_up_is_sent_again(delivery: WebhookDelivery) -> None:
    browser = browser_of("operator")
    assert "answered 500" in text_of(browser.get(place("webhookdelivery")))
    answer = browser.post(
        place("webhookdelivery"), {"action": "redeliver", "_selected_action": [str(delivery.pk)]}, follow=True
    )
    assert "1 message(s) will be sent again." in text_of(answer)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts) == (DeliveryStatus.PENDING, 0)
    answer = browser.post(
        place("webhookdelivery"), {"action": "redeliver", "_selected_action": [str(delivery.pk)]}, follow=True
    )
    assert "1 left as they were" in text_of(answer)
