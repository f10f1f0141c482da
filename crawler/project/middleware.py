"""The outermost layers: every answer has an id and a log line, every API error its family's shape."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseForbidden
from django.middleware.csrf import CsrfViewMiddleware

from crawler.foundation import context
from crawler.foundation.errors import InvalidInput, family_of, is_rendered, problem_for_status, render
from crawler.foundation.ids import short_id
from crawler.project import failures

log = logging.getLogger("crawler.requests")

Handler = Callable[[HttpRequest], HttpResponse]
# An id that a proxy or client brought is kept when it cannot hurt a log or a header.
FOREIGN_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
QUIET_PATHS = ("/healthz", "/readyz", "/static/")
BOTS_PATH = "/api/crawl/"


class RequestContext:
    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        brought = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = brought if FOREIGN_ID.fullmatch(brought) else short_id("req")
        reset = context.request_id.set(request_id)
        began = time.perf_counter()
        try:
            response = self.get_response(request)
            response["X-Request-ID"] = request_id
            log_request(request, response, time.perf_counter() - began)
            return response
        finally:
            context.request_id.reset(reset)


def log_request(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    level = logging.DEBUG if is_quiet(request, response) else logging.INFO
    if response.status_code >= 500:
        level = logging.ERROR
    actor = getattr(request, "actor", None)
    facts = {
        "method": request.method,
        "path": request.path,
        "status": response.status_code,
        "milliseconds": round(seconds * 1000, 1),
        "actor": actor.label if actor else None,
    }
    log.log(level, "%s %s %s", request.method, request.path, response.status_code, extra=facts)


class NoNulls:
    """A null character in an address means nothing to anybody, and PostgreSQL takes none."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            names = [name for name, values in request.GET.lists() if "\0" in "".join([name, *values])]
            return failures.answer(
                request, InvalidInput(field=(names or ["address"])[0], reason="Null characters are not allowed.")
            )
        return self.get_response(request)


def is_quiet(request: HttpRequest, response: HttpResponse) -> bool:
    """Nobody reads that. Bots that get what they ask for would fill the log; what they did is in the tables."""
    fine = response.status_code < 400 and request.path.startswith(BOTS_PATH)
    return fine or request.path.startswith(QUIET_PATHS)


class ApiEnvelope:
    """Whatever went wrong below, and however it was answered: an API answers in its own words."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        family = family_of(request.path)
        if family is None or response.status_code < 400 or is_rendered(response) or is_replayed(response):
            return response
        answer = render(problem_for_status(response.status_code), family)
        for name, value in response.items():
            if name not in ("Content-Type", "Content-Length"):
                answer[name] = value
        return answer


class PagesCsrf(CsrfViewMiddleware):
    """Forms of pages show where they come from. The APIs know nobody by a cookie, so there is nothing to forge."""

    def process_view(
        self, request: HttpRequest, callback: Callable[..., HttpResponseBase], callback_args: Any, callback_kwargs: Any
    ) -> HttpResponseForbidden | None:
        if family_of(request.path):
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)


def is_replayed(response: HttpResponse) -> bool:
    return "Idempotent-Replayed" in response
