"""What every request of a bot passes: who is it, may it ask again, was it asked before.

The bot itself is looked up by the statement that does the work, so that most requests are one round trip to the
database. Only a request with an Idempotency-Key, or one that is wrong, costs a look of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from crawler.accounts import guessing, idempotency, limits
from crawler.bots import queries
from crawler.bots.actions import expire_overdue
from crawler.bots.answers import Credentials
from crawler.bots.reading import Shape, body_of, checked, credentials_of
from crawler.foundation.errors import Family, InvalidInput, Problem, Unauthenticated, render

KEY = "HTTP_IDEMPOTENCY_KEY"


@dataclass
class Asked:
    """One request, its credentials not proved yet."""

    credentials: Credentials
    body: dict[str, Any]
    may_wait: bool = True
    # Jobs that came too late. Their locks are ended after the answer, as an error's transaction is rolled back.
    late: list[UUID] = field(default_factory=list)

    def read(self, shape: type[Shape]) -> Shape:
        """The body's fields. A stranger learns nothing about them."""
        try:
            return checked(shape, self.body)
        except InvalidInput:
            queries.authenticated(self.credentials)
            raise


Work = Callable[[Asked], HttpResponse]
View = Callable[[HttpRequest], HttpResponse]


def for_bots(work: Work) -> View:
    """A view that answers in the words of /api/crawl."""

    @wraps(work)
    def view(request: HttpRequest) -> HttpResponse:
        usage = None
        try:
            body = body_of(request)
            credentials = credentials_of(request, body)
            if guessing.is_suspect(request):
                queries.authenticated(credentials)
            usage = limits.TALLY.count(f"bot:{credentials.digest[:20]}", limits.BOTS)
            if usage and usage.exceeded:
                raise usage.problem()
            response = _answer(request, Asked(credentials, body), work)
        except Unauthenticated as problem:
            response = render(guessing.count_failure(request) or problem, Family.BOTS)
        except Problem as problem:
            response = render(problem, Family.BOTS)
        for name, value in (usage.headers() if usage else {}).items():
            response[name] = value
        return response

    return view


def _answer(request: HttpRequest, asked: Asked, work: Work) -> HttpResponse:
    key = request.META.get(KEY)
    try:
        if key is None:
            response = work(asked)
        else:
            owner = f"bot:{queries.authenticated(asked.credentials)}"
            asked.may_wait = False  # nobody waits in a transaction
            response = idempotency.answer_once(request, owner, key, lambda: _rendered(work, asked))
    finally:
        if asked.late:
            expire_overdue(asked.late)
    return response


def _rendered(work: Work, asked: Asked) -> HttpResponse:
    """An error is an answer too, to be stored; only who is no longer known gets none."""
    try:
        return work(asked)
    except Unauthenticated:
        raise
    except Problem as problem:
        return render(problem, Family.BOTS)
