"""Who may call an endpoint: `router.get("/users", auth=at_least(Role.ADMIN))`."""

from __future__ import annotations

from django.http import HttpRequest
from ninja.security.base import AuthBase

from crawler.accounts.actors import Actor
from crawler.accounts.roles import Role
from crawler.foundation.errors import Forbidden, Unauthenticated


def actor_of(request: HttpRequest) -> Actor:
    """The actor that `ApiGate` found."""
    actor: Actor | None = getattr(request, "actor", None)
    if actor is None:
        raise Unauthenticated
    return actor


class BearerToken(AuthBase):
    """Lets a role and those above it in. The API's description says how to send the token."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, needed: Role) -> None:
        super().__init__()
        self.needed = needed

    def __call__(self, request: HttpRequest) -> Actor:
        actor = actor_of(request)
        if not actor.may(self.needed):
            raise Forbidden(f"This needs the role {self.needed.value}; yours is {actor.role}")
        return actor


def at_least(needed: Role) -> BearerToken:
    return BearerToken(needed)
