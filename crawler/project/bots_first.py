"""Bots ask more often than everybody else together, and need nothing that pages need: no session, no user, no messages,
no search for the view. So their requests turn off here; all others go on."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from crawler.bots.api import VIEWS
from crawler.foundation.errors import Family, render
from crawler.project.failures import problem_of

Handler = Callable[[HttpRequest], HttpResponse]
BY_PATH = {f"/api/crawl{path}": view for path, view in VIEWS.items()}


class BotsFirst:
    """The same answers that the way through the router gives, which stays for everything but a plain POST."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        view = BY_PATH.get(request.path) if request.method == "POST" else None
        if view is None:
            return self.get_response(request)
        try:
            request.get_host()
            response = view(request)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered in the bots' words
            response = render(problem_of(error), Family.BOTS)
        response.headers.setdefault("X-Frame-Options", "DENY")
        response.headers.setdefault("Content-Length", str(len(response.content)))
        return response
