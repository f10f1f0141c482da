"""`/healthz`: the process lives. `/readyz`: it can do its work, which takes the database."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, JsonResponse
from redis import RedisError

from crawler import __version__
from crawler.accounts.limits import redis_client
from crawler.project.migrations import pending_migrations


def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "alive", "version": __version__})


def readyz(request: HttpRequest) -> JsonResponse:
    """Redis only speeds things up: without it we are still ready, and say so."""
    checks = {"database": check_database(), "redis": check_redis()}
    ready = checks["database"] == "ok"
    return JsonResponse({"status": "ready" if ready else "not ready", "checks": checks}, status=200 if ready else 503)


def check_database() -> str:
    try:
        pending = pending_migrations()
    except (DatabaseError, InterfaceError):
        connection.close()
        return "cannot be reached"
    return f"{len(pending)} migrations are not applied" if pending else "ok"


def check_redis() -> str:
    url = settings.CRAWLSPACE.redis_url
    if not url:
        return "not configured"
    try:
        redis_client(url).ping()
    except RedisError:
        return "cannot be reached"
    return "ok"
