"""What requests pass before their view. APIs: who is it, may it ask again, was it asked before. Pages: logins."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from crawler.accounts import guessing, idempotency, limits, logins, tokens
from crawler.accounts.actors import Actor, actor_of_token
from crawler.accounts.addresses import address_subject
from crawler.accounts.devices import remember_device
from crawler.foundation.errors import Family, Problem, family_of, render

log = logging.getLogger(__name__)

Handler = Callable[[HttpRequest], HttpResponse]
WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class ApiRequest(HttpRequest):
    """A request that passed `ApiGate`; `actor` is None when nobody showed a valid token."""

    actor: Actor | None


class ApiGate:
    """Authenticates, counts and replays requests to the APIs; other paths pass untouched."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        family = family_of(request.path)
        # Bots show who they are in the body, so their views see to all this themselves.
        if family is None or (family is Family.BOTS and request.method == "POST"):
            return self.get_response(request)
        try:
            actor = authenticate(request)
        except Problem as problem:
            return render(problem, family)
        setattr(request, "actor", actor)  # noqa: B010 - see ApiRequest
        usage = limits.count(subject_of(request, actor), limits.endpoint_class(request.method or "", request.path))
        try:
            response = self.answer(request, actor, usage)
        except Problem as problem:
            response = render(problem, family)
        for name, value in (usage.headers() if usage else {}).items():
            response[name] = value
        return response

    def answer(self, request: HttpRequest, actor: Actor | None, usage: limits.Usage | None) -> HttpResponse:
        if usage and usage.exceeded:
            raise usage.problem()
        key = request.headers.get("Idempotency-Key")
        if key is None or actor is None or request.method not in WRITING:
            return self.get_response(request)
        return idempotency.answer_once(request, actor.key, key, lambda: self.get_response(request))


def authenticate(request: HttpRequest) -> Actor | None:
    """The actor behind `Authorization: Bearer TOKEN`. Raises RateLimited for those who guess."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    token = tokens.find(text.strip())
    if token is None:
        if too_many := guessing.count_failure(request):
            raise too_many
        return None
    tokens.note_use(token)
    return actor_of_token(token)


def subject_of(request: HttpRequest, actor: Actor | None) -> str:
    """Whose minute it is: the token's, or the address's of somebody without one."""
    return actor.key if actor else address_subject(request)


class LoginGate:
    """What became of a login with a password, told by status and headers whichever form it came through."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        refusal: logins.TooManyFailures | None = getattr(request, logins.REFUSED, None)
        if refusal is not None:
            response.status_code = 429
            response["Retry-After"] = str(refusal.seconds)
        username: str | None = getattr(request, logins.PASSED, None)
        if username is not None:
            remember_device(response, username)
        return response
