"""Who may call an endpoint: `router.get("/users", auth=at_least(Role.ADMIN))`."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest

from crawler.accounts.actors import Actor
from crawler.accounts.roles import Role
from crawler.foundation.errors import Forbidden, Unauthenticated


def actor_of(request: HttpRequest) -> Actor:
    """The actor that `ApiGate` found."""
    actor: Actor | None = getattr(request, "actor", None)
    if actor is None:
        raise Unauthenticated
    return actor


def at_least(needed: Role) -> Callable[[HttpRequest], Actor]:
    def check(request: HttpRequest) -> Actor:
        actor = actor_of(request)
        if not actor.may(needed):
            raise Forbidden(f"This needs the role {needed.value}; yours is {actor.role}")
        return actor

    return check
