"""What is answered when no view did: the API's envelope, or a page for a person. Never a stack trace."""

from __future__ import annotations

import logging
import sys

from django.core.exceptions import BadRequest, DisallowedHost, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.shortcuts import render as render_page

from crawler.foundation import context
from crawler.foundation.errors import (
    Forbidden,
    Internal,
    InvalidInput,
    NotFound,
    Problem,
    TooLarge,
    Unavailable,
    family_of,
    render,
)

log = logging.getLogger(__name__)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, problem_of(exception))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, Forbidden())


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    log.info("refused a form: %s", reason)
    return answer(
        request, Forbidden("This form is out of date or cookies are off; go back, reload the page, try again")
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, NotFound())


def server_error(request: HttpRequest) -> HttpResponse:
    error = sys.exc_info()[1]
    return answer(request, problem_of(error) if isinstance(error, Exception) else Internal())


def problem_of(error: Exception) -> Problem:
    """What to tell about an exception that nobody expected; the whole of it goes to the log only."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestDataTooBig):
        return TooLarge()
    if isinstance(error, DisallowedHost):
        return InvalidInput("This host name is not in ALLOWED_HOSTS", field="Host", reason="is not in ALLOWED_HOSTS")
    if isinstance(error, SuspiciousOperation | BadRequest | UnreadablePostError):
        return InvalidInput("The request is malformed")
    log.error("unhandled %s", type(error).__name__, exc_info=error)
    if isinstance(error, OperationalError | InterfaceError):
        return Unavailable("The database cannot be reached", headers={"Retry-After": "5"})
    return Internal()


def answer(request: HttpRequest, problem: Problem) -> HttpResponse:
    if family := family_of(request.path):
        return render(problem, family)
    facts = {"problem": problem, "request_id": context.request_id.get()}
    return render_page(request, "problem.html", facts, status=problem.status)
