"""Every write to users and tokens, each with its line in the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from crawler.accounts import audit, sessions, tokens
from crawler.accounts.actors import Actor
from crawler.accounts.models import ApiToken, User
from crawler.accounts.roles import Role
from crawler.foundation.errors import Conflict, InvalidInput

USER_FACTS = ("username", "email", "role", "is_active")
TOKEN_FACTS = ("name", "prefix", "expires_at")


@transaction.atomic
def create_user(
    by: Actor, username: str, *, password: str | None = None, role: str = Role.VIEWER, email: str = ""
) -> User:
    user = User(username=User.normalize_username(username), role=role, email=email)
    _check_password(user, password)
    user.set_password(password)
    _check_fields(user)
    if User.objects.filter(username=user.username).exists():
        raise _name_taken(user.username)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError:  # another request was faster
        raise _name_taken(user.username) from None
    audit.record(by, "created", user, after=facts(user, USER_FACTS))
    return user


@transaction.atomic
def change_user(by: Actor, user: User, changes: dict[str, Any], *, reason: str = "") -> User:
    """Change role, email or is_active. The last active admin stays one."""
    user = User.objects.select_for_update().get(pk=user.pk)
    before = facts(user, USER_FACTS)
    for name, value in changes.items():
        setattr(user, name, value)
    _check_fields(user)
    user.save()
    if not User.objects.filter(role=Role.ADMIN, is_active=True).exists():
        raise Conflict("This is the last active admin", field="role", reason="somebody has to be able to administer")
    if not user.is_active:
        sessions.end_sessions(user)
    old, new = audit.changes(before, facts(user, USER_FACTS))
    if new:
        audit.record(by, "changed", user, reason=reason, before=old, after=new)
    return user


@transaction.atomic
def set_password(by: Actor, user: User, password: str) -> None:
    _check_password(user, password)
    user.set_password(password)
    user.save(update_fields=["password"])
    audit.record(by, "set password of", user)


@transaction.atomic
def issue_token(by: Actor, user: User, name: str, *, expires_at: datetime | None = None) -> tuple[ApiToken, str]:
    """A new token and its text, which exists only in this answer."""
    made = tokens.generate()
    token = ApiToken(user=user, name=name, expires_at=expires_at, prefix=made.prefix, secret_hash=made.digest)
    _check_fields(token)
    token.save(force_insert=True)
    audit.record(by, "issued", token, after=facts(token, TOKEN_FACTS) | {"user": user.username})
    return token, made.text


@transaction.atomic
def revoke_token(by: Actor, token: ApiToken, *, reason: str = "") -> bool:
    """False when it was revoked before."""
    changed = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=Now())
    if changed:
        token.refresh_from_db()
        audit.record(by, "revoked", token, reason=reason, after={"revoked_at": str(token.revoked_at)})
    return bool(changed)


def facts(row: User | ApiToken, names: tuple[str, ...]) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in names}
    return {name: str(value) if isinstance(value, datetime) else value for name, value in values.items()}


def _check_fields(row: User | ApiToken) -> None:
    try:
        row.clean_fields()
    except ValidationError as error:
        raise _invalid(error.message_dict) from None


def _check_password(user: User, password: str | None) -> None:
    if password is None:
        return
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise _invalid({"password": error.messages}) from None


def _invalid(fields: dict[str, list[str]]) -> InvalidInput:
    field, reasons = next(iter(fields.items()))
    return InvalidInput(field=field, reason=" ".join(reasons), fields=fields)


def _name_taken(username: str) -> Conflict:
    return Conflict(
        "A user with this name already exists", field="username", reason=f"User '{username}' already exists"
    )
