"""Webhooks, each write with its line in the audit log. Secrets are in none of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from crawler.accounts import audit
from crawler.accounts.actors import Actor
from crawler.bots.actions.recording import facts, record_change
from crawler.bots.models import Webhook
from crawler.bots.webhooks.signing import new_secret
from crawler.fetch.guard import Guard
from crawler.fetch.origins import FETCHABLE, origin_of
from crawler.fetch.outcome import Failure
from crawler.fetch.resolver import literal_address
from crawler.foundation.errors import InvalidInput
from crawler.web.urls import InvalidURL, resolve

FACTS = ("url", "description", "events", "domain_id", "policy_id", "enabled")


@transaction.atomic
def create_webhook(by: Actor, url: str, *, secret: str | None = None, **fields: Any) -> tuple[Webhook, str]:
    """The webhook and its secret, which is shown only here."""
    webhook = Webhook(url=checked_url(url), secret=secret or new_secret(), **fields)
    webhook.save(force_insert=True)
    audit.record(by, "created", webhook, after=_facts(webhook))
    webhook.refresh_from_db()
    return webhook, webhook.secret


@transaction.atomic
def change_webhook(by: Actor, webhook: Webhook, changes: dict[str, Any], *, reason: str = "") -> Webhook:
    """Switching it on forgets that it failed; what waited for it is sent."""
    webhook = Webhook.objects.select_for_update().get(pk=webhook.pk)
    before = _facts(webhook)
    for name, value in changes.items():
        setattr(webhook, name, checked_url(value) if name == "url" else value)
    if changes.get("enabled"):
        webhook.failing_since, webhook.note = None, ""
    webhook.save()
    record_change(by, webhook, before, _facts(webhook), reason)
    return webhook


@transaction.atomic
def rotate_secret(by: Actor, webhook: Webhook) -> str:
    """The new secret; from now on everything is signed with it."""
    webhook.secret = new_secret()
    webhook.save(update_fields=["secret"])
    audit.record(by, "rotated secret of", webhook)
    return webhook.secret


@transaction.atomic
def delete_webhook(by: Actor, webhook: Webhook, *, reason: str = "") -> None:
    """With its deliveries."""
    audit.record(by, "deleted", webhook, reason=reason, before=_facts(webhook))
    webhook.delete()


def checked_url(url: str) -> str:
    """Raises InvalidInput for what could never be sent to. Names are judged at every attempt, once they are known."""
    try:
        resolved = resolve(url.strip())
    except InvalidURL as error:
        raise InvalidInput(field="url", reason=str(error), code="INVALID_URL") from None
    origin = origin_of(resolved, FETCHABLE)
    if isinstance(origin, Failure):
        why = "leave user name and password out" if "@" in urlsplit(resolved).netloc else origin.message
        raise InvalidInput(field="url", reason=f"Messages cannot be sent to this address: {why}")
    address = literal_address(origin.host)
    if address and (refused := Guard(settings.CRAWLSPACE.fetch_allowed_networks).refusal(address)):
        hint = "the setting FETCH_ALLOWED_NETWORKS can allow its network"
        raise InvalidInput(field="url", reason=f"{refused}; {hint}")
    return resolved


def _facts(webhook: Webhook) -> dict[str, Any]:
    known = facts(webhook, FACTS)
    domain_id = known.pop("domain_id")
    return known | {"domain_id": domain_id and str(domain_id), "min_percent": str(webhook.min_percent)}
