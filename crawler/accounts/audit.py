"""Writing to the audit log, in the same transaction as what it reports."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from crawler.accounts.actors import Actor
from crawler.accounts.models import AuditEntry
from crawler.foundation import context

Facts = dict[str, Any]


def record(
    actor: Actor,
    action: str,
    target: Model,
    *,
    reason: str = "",
    before: Facts | None = None,
    after: Facts | None = None,
) -> AuditEntry:
    """Note that `actor` did `action` (a verb: created, revoked, …) to `target`."""
    return AuditEntry.objects.create(
        actor_kind=actor.kind,
        actor=actor.label,
        user=actor.user,
        action=action,
        target_type=str(target._meta.verbose_name),
        target_id="" if target.pk is None else str(target.pk),
        target_label=str(target)[:200],
        reason=reason,
        before=before,
        after=after,
        request_id=context.request_id.get(),
    )


def changes(before: Facts, after: Facts) -> tuple[Facts, Facts]:
    """Both sides, reduced to what differs."""
    names = [name for name in after if before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}
