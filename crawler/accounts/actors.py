"""Who is acting: the one thing that permissions, limits and the audit log ask for."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from crawler.accounts.roles import Role, reaches

if TYPE_CHECKING:
    from crawler.accounts.models import ApiToken, User


@dataclass(frozen=True)
class Actor:
    kind: Literal["user", "token", "cli", "system"]
    label: str
    role: str
    user: User | None = None
    token: ApiToken | None = None

    @property
    def key(self) -> str:
        """What tells this actor's requests from another's."""
        return f"token:{self.token.pk}" if self.token else f"{self.kind}:{self.label}"

    def may(self, needed: Role) -> bool:
        return reaches(self.role, needed)


def actor_of_user(user: User) -> Actor:
    return Actor("user", user.username, user.role, user=user)


def actor_of_token(token: ApiToken) -> Actor:
    return Actor("token", f"{token.user.username} ({token.prefix})", token.user.role, user=token.user, token=token)


def actor_of_terminal() -> Actor:
    """Whoever can run our commands can also edit the database: an admin, by the name of the login."""
    try:
        login = getpass.getuser()
    except (KeyError, OSError):
        login = "unknown"
    return Actor("cli", login, Role.ADMIN)


SYSTEM = Actor("system", "system", Role.ADMIN)
