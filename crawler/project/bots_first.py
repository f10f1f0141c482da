"""Bots ask more often than everybody else together, and need nothing that pages need: no session, no user, no signals,
no search for the view. So the server answers their requests before Django sees them; all others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from io import BytesIO
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware

from crawler.bots.api import VIEWS
from crawler.foundation.errors import Family, render
from crawler.project.failures import problem_of
from crawler.project.middleware import RequestContext
from crawler.project.proxies import BehindProxies
from crawler.project.security_headers import SecurityHeaders

Application = Callable[..., Iterable[bytes]]
BY_PATH = {f"/api/crawl{path}": view for path, view in VIEWS.items()}


def answer(request: HttpRequest) -> HttpResponse:
    """In the bots' words, whatever happens."""
    try:
        request.get_host()
        return BY_PATH[request.path](request)
    except Exception as error:  # noqa: BLE001 - see above
        return render(problem_of(error), Family.BOTS)


handle = BehindProxies(RequestContext(answer))


@cache
def fixed_headers() -> tuple[tuple[str, str], ...]:
    """What the layers of security add to every answer that is not a page."""
    sample = WSGIRequest({"REQUEST_METHOD": "POST", "PATH_INFO": "/api/crawl/pull/", "wsgi.input": BytesIO()})
    empty = HttpResponse(content_type="application/json")
    inner = SecurityMiddleware(lambda _: empty)
    secured = SecurityHeaders(lambda request: inner.process_response(request, empty))(sample)
    kept = [(name, value) for name, value in secured.items() if name != "Content-Type"]
    return (*kept, ("X-Frame-Options", "DENY"))


class BotsFirst:
    """The same answers that the way through Django gives, which stays for everything but a plain POST.

    A thread keeps its connection to the database from one request to the next, unless something went wrong with it.
    """

    def __init__(self, others: Application) -> None:
        self.others = others

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "POST" or environ.get("PATH_INFO") not in BY_PATH:
            return self.others(environ, start_response)
        if connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()
        response = handle(WSGIRequest(environ))
        length = ("Content-Length", str(len(response.content)))
        start_response(
            f"{response.status_code} {response.reason_phrase}", [*response.items(), *fixed_headers(), length]
        )
        return [response.content]
