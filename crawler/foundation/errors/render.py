"""A problem as the answer of one API family."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, HttpResponseBase, JsonResponse

from crawler.foundation import context
from crawler.foundation.errors.families import Family
from crawler.foundation.errors.problems import Problem

MARK = "crawlspace_problem"

# Where a family has its own word for a status. The crawl API's words are the problems' own.
SOURCES_CODES = {400: "VALIDATION_ERROR", 413: "VALIDATION_ERROR", 422: "VALIDATION_ERROR"}
BOTS_CODES = {
    400: "validation_error",
    401: "authentication_error",
    403: "authentication_error",
    413: "validation_error",
    422: "validation_error",
    500: "internal_error",
}


def render(problem: Problem, family: Family) -> HttpResponse:
    response = JsonResponse(BODIES[family](problem), status=problem.status)
    for name, value in problem.headers.items():
        response[name] = value
    setattr(response, MARK, True)
    return response


def is_rendered(response: HttpResponseBase) -> bool:
    return getattr(response, MARK, False)


def crawls_body(problem: Problem) -> dict[str, Any]:
    error = {"code": problem.code, "message": problem.message, "details": problem.details}
    return {"error": error | {"request_id": context.request_id.get()}}


def sources_body(problem: Problem) -> dict[str, Any]:
    own = SOURCES_CODES.get(problem.status, problem.code)
    named = f"{problem.field}: {problem.reason}" if problem.field and problem.reason else problem.message
    return {"error": named, "code": own}


def bots_body(problem: Problem) -> dict[str, Any]:
    lower = problem.code.lower()
    plain = problem.code == type(problem).code
    own = BOTS_CODES.get(problem.status, lower) if plain else lower
    return {"success": False, "error": own, "detail": problem.fields or problem.message}


BODIES = {Family.CRAWLS: crawls_body, Family.SOURCES: sources_body, Family.BOTS: bots_body}
