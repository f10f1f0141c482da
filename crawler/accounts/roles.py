"""Roles, and what each may do. A higher role may do all that a lower one may."""

from __future__ import annotations

from django.db.models import TextChoices


class Role(TextChoices):
    VIEWER = "viewer", "Viewer: may look"
    OPERATOR = "operator", "Operator: may also run and change work"
    ADMIN = "admin", "Admin: may also manage people, tokens and sources"


RANK = {Role.VIEWER: 1, Role.OPERATOR: 2, Role.ADMIN: 3}

# In the admin pages everybody but an admin is kept out of this app.
ADMIN_ONLY_APPS = frozenset({"accounts"})


def reaches(role: str, needed: Role) -> bool:
    return RANK[Role(role)] >= RANK[needed]


def permits(role: str, permission: str) -> bool:
    """Whether a role has a Django permission such as `domains.view_domain`."""
    app, _, name = permission.partition(".")
    if role == Role.ADMIN:
        return True
    if app in ADMIN_ONLY_APPS:
        return False
    return name.startswith("view_") or (role == Role.OPERATOR and name.startswith(("add_", "change_")))
