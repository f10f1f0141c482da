"""The `/api/crawl` of bots: its router, its words for errors, its description."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError
from ninja.openapi.schema import OpenAPISchema

from crawler.bots import schemas
from crawler.bots.api import router
from crawler.bots.description import components
from crawler.foundation.errors import Family, NotFound, Problem, problem_for_status, render
from crawler.project.failures import problem_of

SHAPES: list[Any] = [
    schemas.PullIn, schemas.PullOut, schemas.SubmitIn, schemas.DoneOut, schemas.NotDoneOut, schemas.ResultIn,
    schemas.BatchIn, schemas.BatchOut, schemas.JobsIn, schemas.HeartbeatOut, schemas.ReleaseOut, schemas.ErrorOut,
]  # fmt: skip


class BotsAPI(NinjaAPI):
    def get_openapi_schema(self, *, path_prefix: str | None = None, path_params: Any = None) -> OpenAPISchema:
        described = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        described["components"]["schemas"] = components(SHAPES)
        described["components"]["securitySchemes"] = {"BotToken": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"BotToken": []}, {}]
        return described


bots_api = BotsAPI(
    title="Crawlspace: bots",
    version="1.1",
    urls_namespace="crawl",
    description="Bots show `bot_id` and `api_token` in the body, or the token as `Authorization: Bearer`. Errors are "
    '`{"success": false, "error", "detail"}`. Every POST takes an optional `Idempotency-Key`.',
)
bots_api.add_router("", router)


@bots_api.exception_handler(Problem)
def on_problem(request: HttpRequest, error: Problem) -> HttpResponse:
    return render(error, Family.BOTS)


@bots_api.exception_handler(HttpError)
def on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    return render(problem_for_status(error.status_code), Family.BOTS)


@bots_api.exception_handler(Http404)
def on_not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return render(NotFound(), Family.BOTS)


@bots_api.exception_handler(Exception)
def on_anything(request: HttpRequest, error: Exception) -> HttpResponse:
    return render(problem_of(error), Family.BOTS)
