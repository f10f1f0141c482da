"""The shapes of `/api/v1/webhooks`."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from ninja import Field, Schema
from pydantic import AfterValidator

from crawler.accounts.schemas import CursorPage, StrictSchema
from crawler.bots.models import ChangeKind, Webhook
from crawler.bots.schemas import storable

Percent = Annotated[Decimal, Field(ge=0, lt=10**9, decimal_places=6, json_schema_extra={"type": "number"})]
Description = Annotated[str, Field(max_length=200), AfterValidator(storable)]
Secret = Annotated[str, Field(min_length=16, max_length=200), AfterValidator(storable)]
PolicyId = Annotated[int, Field(ge=1, lt=2**63)]


class WebhookIn(StrictSchema):
    url: str
    events: list[ChangeKind] = Field(default_factory=list, description="Empty: all of them.")
    min_percent: Percent = Field(
        Decimal(0), description="Price events only when the price went further than this; exactly this is not enough."
    )
    domain: str | None = Field(None, description="Only products of this domain.")
    policy: PolicyId | None = Field(None, description="Only products of this policy, by its id.")
    description: Description = ""
    enabled: bool = True
    secret: Secret | None = Field(None, description="Made for you when left out.")


class WebhookChange(StrictSchema):
    """What is left out stays; null for domain or policy lifts the limit."""

    url: str | None = None
    events: list[ChangeKind] | None = None
    min_percent: Percent | None = None
    domain: str | None = None
    policy: PolicyId | None = None
    description: Description | None = None
    enabled: bool | None = None
    reason: str = Field("", description="Kept in the audit log.")


class WebhookOut(Schema):
    id: UUID
    url: str
    description: str
    events: list[str] = Field(description="Empty: all of them.")
    min_percent: float
    domain: str | None
    policy: int | None = Field(alias="policy_id")
    enabled: bool
    failing_since: datetime | None = Field(description="Nothing arrived since; null: the last message did.")
    note: str = Field(description="Why it was switched off, if we did that.")
    created_at: datetime

    @staticmethod
    def resolve_domain(webhook: Webhook) -> str | None:
        return webhook.domain.name if webhook.domain else None


class SecretOut(Schema):
    secret: str = Field(description="Shown only now.")


class WebhookCreated(WebhookOut, SecretOut):
    pass


class WebhookPage(Schema):
    webhooks: list[WebhookOut]


class DeliveryOut(Schema):
    id: UUID = Field(description="The id in the message: the same at every attempt.")
    event: str
    status: str
    change: int | None = Field(None, description="The change's number; null for a ping.")
    attempts: int
    next_attempt_at: datetime | None
    attempted_at: datetime | None
    response_status: int | None
    response_excerpt: str
    error: str
    milliseconds: int | None
    created_at: datetime

    @staticmethod
    def resolve_change(delivery: object) -> int | None:
        change = getattr(delivery, "change", None)
        return change.number if change else None


class DeliveryPage(Schema):
    deliveries: list[DeliveryOut]
    pagination: CursorPage
