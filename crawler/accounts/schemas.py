"""The shapes that the accounts API takes and gives."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from ninja import Field, Schema

RoleName = Literal["admin", "operator", "viewer"]


class StrictSchema(Schema):
    """Input that is refused when it has a field nobody knows, instead of ignoring it."""

    model_config = {"extra": "forbid"}


class UserOut(Schema):
    id: UUID
    username: str
    email: str
    role: RoleName
    is_active: bool
    created_at: datetime
    last_login: datetime | None


class UserIn(StrictSchema):
    username: str = Field(max_length=150, json_schema_extra={"pattern": r"^[\w.@+-]+$", "minLength": 1})
    role: RoleName = "viewer"
    email: str = Field("", json_schema_extra={"format": "email"})
    password: str | None = Field(
        None,
        description="At least 10 characters, not a common one. Leave out for an account that only uses tokens.",
        json_schema_extra={"minLength": 10},
    )


class UserChange(StrictSchema):
    role: RoleName | None = None
    email: str | None = Field(None, json_schema_extra={"format": "email"})
    is_active: bool | None = None
    reason: str = Field("", description="Kept in the audit log.")


class TokenOut(Schema):
    name: str
    prefix: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None


class Limits(Schema):
    jobs: int
    data: int
    monitoring: int


class Me(Schema):
    user: UserOut
    token: TokenOut
    rate_limits: Limits = Field(description="Requests a minute for each class of endpoint; 0 is no limit.")


class AuditOut(Schema):
    id: UUID
    created_at: datetime
    actor: str
    actor_kind: str
    action: str
    target_type: str
    target_id: str
    target_label: str
    reason: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    request_id: str


class CursorPage(Schema):
    limit: int
    next_cursor: str | None


class AuditPage(Schema):
    entries: list[AuditOut]
    pagination: CursorPage


class UserPage(Schema):
    users: list[UserOut]
