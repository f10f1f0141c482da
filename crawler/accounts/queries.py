"""Reads."""

from __future__ import annotations

from uuid import UUID

from crawler.accounts.models import AuditEntry, User
from crawler.foundation.errors import NotFound


def user(user_id: UUID) -> User:
    found = User.objects.filter(pk=user_id).first()
    if found is None:
        raise NotFound("There is no user with this id", field="user_id", reason=str(user_id))
    return found


def audit_page(*, limit: int, before: UUID | None, target_type: str, target_id: str) -> list[AuditEntry]:
    """Entries newest first; `before` is the last id of the page before."""
    entries = AuditEntry.objects.order_by("-id")
    if before:
        entries = entries.filter(id__lt=before)
    if target_type:
        entries = entries.filter(target_type=target_type)
    if target_id:
        entries = entries.filter(target_id=target_id)
    return list(entries[:limit])
