"""`/api/v1/webhooks`: who is told about changes, and what became of each message."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status

from crawler.accounts.access import actor_of, at_least
from crawler.accounts.roles import Role
from crawler.bots import actions
from crawler.bots.models import CrawlPolicy, DeliveryStatus, Webhook, WebhookDelivery
from crawler.bots.products.schemas import Limit
from crawler.bots.webhooks.courier import deliver_one
from crawler.bots.webhooks.schemas import (
    DeliveryOut,
    DeliveryPage,
    SecretOut,
    WebhookChange,
    WebhookCreated,
    WebhookIn,
    WebhookOut,
    WebhookPage,
)
from crawler.domains.models import Domain
from crawler.foundation.errors import InvalidInput, NotFound

router = Router(tags=["webhooks"])
viewers, operators = at_least(Role.VIEWER), at_least(Role.OPERATOR)


@router.get("/webhooks", response=WebhookPage, auth=viewers, summary="All webhooks, without their secrets")
def list_webhooks(request: HttpRequest) -> object:
    return {"webhooks": Webhook.objects.select_related("domain")}


@router.post("/webhooks", response={201: WebhookCreated}, auth=operators, summary="Be told about changes")
def create_webhook(request: HttpRequest, body: WebhookIn) -> Status[Webhook]:
    fields = body.dict(exclude={"url", "secret"})
    webhook, _ = actions.create_webhook(actor_of(request), body.url, secret=body.secret, **resolved(fields))
    return Status(201, webhook)


@router.get("/webhooks/{webhook_id}", response=WebhookOut, auth=viewers, summary="A webhook")
def one_webhook(request: HttpRequest, webhook_id: UUID) -> Webhook:
    return known(webhook_id)


@router.patch(
    "/webhooks/{webhook_id}", response=WebhookOut, auth=operators, summary="Change a webhook, switch it on or off"
)
def change_webhook(request: HttpRequest, webhook_id: UUID, body: WebhookChange) -> Webhook:
    given = body.dict(exclude_unset=True, exclude={"reason"})
    for name, value in given.items():
        if value is None and name not in ("domain", "policy"):
            raise InvalidInput(field=name, reason="This field may not be null.")
    return actions.change_webhook(actor_of(request), known(webhook_id), resolved(given), reason=body.reason)


@router.delete("/webhooks/{webhook_id}", response={204: None}, auth=operators, summary="Remove a webhook")
def delete_webhook(request: HttpRequest, webhook_id: UUID, reason: str = "") -> Status[None]:
    actions.delete_webhook(actor_of(request), known(webhook_id), reason=reason)
    return Status(204, None)


@router.post(
    "/webhooks/{webhook_id}/rotate-secret", response=SecretOut, auth=operators, summary="A new secret, shown once"
)
def rotate_secret(request: HttpRequest, webhook_id: UUID) -> object:
    return {"secret": actions.rotate_secret(actor_of(request), known(webhook_id))}


@router.post(
    "/webhooks/{webhook_id}/test",
    response=DeliveryOut,
    auth=operators,
    summary="Send a ping now and tell what came back",
)
def test_webhook(request: HttpRequest, webhook_id: UUID) -> WebhookDelivery:
    delivery, held = actions.claim_ping(known(webhook_id))
    deliver_one(delivery, held)
    delivery.refresh_from_db()
    return delivery


@router.get(
    "/webhooks/{webhook_id}/deliveries",
    response=DeliveryPage,
    auth=viewers,
    summary="What was sent or waits to be, newest first; kept for 30 days",
)
def list_deliveries(
    request: HttpRequest,
    webhook_id: UUID,
    status: DeliveryStatus | None = None,
    limit: Limit = 100,
    cursor: UUID | None = None,
) -> object:
    found = WebhookDelivery.objects.filter(webhook=known(webhook_id)).select_related("change").order_by("-id")
    if status is not None:
        found = found.filter(status=status)
    if cursor is not None:
        found = found.filter(id__lt=cursor)
    rows = list(found[: limit + 1])
    more = str(rows[limit - 1].id) if len(rows) > limit else None
    return {"deliveries": rows[:limit], "pagination": {"limit": limit, "next_cursor": more}}


@router.post(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    response={202: DeliveryOut},
    auth=operators,
    summary="Send a message again",
)
def redeliver(request: HttpRequest, webhook_id: UUID, delivery_id: UUID) -> Status[WebhookDelivery]:
    delivery = WebhookDelivery.objects.filter(webhook=known(webhook_id), pk=delivery_id).first()
    if delivery is None:
        raise NotFound("There is no such delivery", field="delivery_id", reason=str(delivery_id))
    return Status(202, actions.redeliver(actor_of(request), delivery))


def known(webhook_id: UUID) -> Webhook:
    found = Webhook.objects.select_related("domain").filter(pk=webhook_id).first()
    if found is None:
        raise NotFound("There is no webhook with this id", field="webhook_id", reason=str(webhook_id))
    return found


def resolved(fields: dict[str, Any]) -> dict[str, Any]:
    """Names and ids as rows. Raises InvalidInput for those that are not there."""
    given = dict(fields)
    if (name := given.get("domain")) is not None:
        given["domain"] = domain_named(name)
    if (policy_id := given.pop("policy", None)) is not None or "policy" in fields:
        given["policy"] = policy_numbered(policy_id) if policy_id is not None else None
    if "events" in given:
        given["events"] = [str(event) for event in dict.fromkeys(given["events"])]
    return given


def domain_named(name: str) -> Domain:
    asked = name.strip().lower()
    found = Domain.objects.filter(name__in={asked, asked.removeprefix("www.")}).first()
    if found is None:
        raise InvalidInput(field="domain", reason=f"{name!r} is not known; add a product or a policy of it first")
    return found


def policy_numbered(policy_id: int) -> CrawlPolicy:
    found = CrawlPolicy.objects.filter(pk=policy_id).first()
    if found is None:
        raise InvalidInput(field="policy", reason=f"There is no policy {policy_id}")
    return found
