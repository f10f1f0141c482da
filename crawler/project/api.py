"""The `/api/v1` of crawls and of the platform itself, put together from the apps' routers."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja.errors import AuthenticationError, HttpError, ValidationError

from crawler import __version__
from crawler.accounts.api import router as accounts
from crawler.bots.products.api import router as products
from crawler.bots.webhooks.api import router as webhooks
from crawler.crawls.api import router as crawls
from crawler.foundation.errors import (
    Family,
    InvalidInput,
    NotFound,
    Problem,
    Unauthenticated,
    family_of,
    problem_for_status,
    render,
)
from crawler.processes.api import router as processes
from crawler.project.described import DescribedAPI
from crawler.project.failures import problem_of

api = DescribedAPI(
    title="Crawlspace",
    version=__version__,
    urls_namespace="v1",
    description="Errors are `{error: {code, message, details, request_id}}`. Every answer carries `X-Request-ID` and "
    "`X-RateLimit-*`. Writes take an optional `Idempotency-Key`.",
)
api.add_router("", accounts)
api.add_router("", processes)
api.add_router("", crawls)
api.add_router("", products)
api.add_router("", webhooks)


def answer(request: HttpRequest, problem: Problem) -> HttpResponse:
    return render(problem, family_of(request.path) or Family.CRAWLS)


@api.exception_handler(Problem)
def on_problem(request: HttpRequest, error: Problem) -> HttpResponse:
    return answer(request, error)


@api.exception_handler(AuthenticationError)
def on_unauthenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return answer(request, Unauthenticated())


@api.exception_handler(ValidationError)
def on_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    fields: dict[str, list[str]] = {}
    for wrong in error.errors:
        fields.setdefault(field_name(wrong), []).append(reason_of(wrong))
    field, reasons = next(iter(fields.items()))
    return answer(request, InvalidInput(field=field, reason=" ".join(reasons), fields=fields))


def field_name(wrong: dict[str, Any]) -> str:
    """`("body", "body", "config", "max_depth")` is `config.max_depth` to the one who sent it."""
    return ".".join(str(part) for part in wrong["loc"][2:] or wrong["loc"][1:] or wrong["loc"]) or "body"


def reason_of(wrong: dict[str, Any]) -> str:
    if wrong["type"] == "extra_forbidden":
        return "This field is unknown."
    if wrong["type"] == "missing":
        return "This field is required."
    return str(wrong["msg"]).removeprefix("Value error, ")


@api.exception_handler(HttpError)
def on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if error.status_code == 400:
        return answer(request, InvalidInput(str(error), field="body", reason=str(error)))
    return answer(request, problem_for_status(error.status_code))


@api.exception_handler(Http404)
def on_not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return answer(request, NotFound())


@api.exception_handler(Exception)
def on_anything(request: HttpRequest, error: Exception) -> HttpResponse:
    return answer(request, problem_of(error))
