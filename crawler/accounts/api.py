"""`/api/v1`: who am I, users, audit log."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Router, Status

from crawler.accounts import actions, limits, queries
from crawler.accounts.access import actor_of, at_least
from crawler.accounts.models import User
from crawler.accounts.roles import Role
from crawler.accounts.schemas import AuditPage, Limits, Me, UserChange, UserIn, UserOut, UserPage

router = Router(tags=["accounts"])
admins = at_least(Role.ADMIN)


@router.get("/me", response=Me, auth=at_least(Role.VIEWER), summary="Who am I")
def me(request: HttpRequest) -> object:
    actor = actor_of(request)
    names = (limits.JOBS, limits.DATA, limits.MONITORING)
    return {"user": actor.user, "token": actor.token, "rate_limits": Limits(**{n: limits.limit_of(n) for n in names})}


@router.get("/users", response=UserPage, auth=admins, summary="List users")
def list_users(request: HttpRequest) -> object:
    return {"users": User.objects.all()}


@router.post("/users", response={201: UserOut}, auth=admins, summary="Create a user")
def create_user(request: HttpRequest, body: UserIn) -> Status[User]:
    made = actions.create_user(
        actor_of(request), body.username, password=body.password, role=body.role, email=body.email
    )
    return Status(201, made)


@router.patch("/users/{user_id}", response=UserOut, auth=admins, summary="Change role, email or activity")
def change_user(request: HttpRequest, user_id: UUID, body: UserChange) -> User:
    changes = body.dict(exclude={"reason"}, exclude_none=True)
    return actions.change_user(actor_of(request), queries.user(user_id), changes, reason=body.reason)


@router.get("/audit", response=AuditPage, auth=admins, summary="Read the audit log, newest first")
def read_audit(
    request: HttpRequest,
    limit: Annotated[int, Field(ge=1, le=1000)] = 100,
    cursor: UUID | None = None,
    target_type: str = "",
    target_id: str = "",
) -> object:
    entries = queries.audit_page(limit=limit, before=cursor, target_type=target_type, target_id=target_id)
    more = str(entries[-1].id) if len(entries) == limit else None
    return {"entries": entries, "pagination": {"limit": limit, "next_cursor": more}}
