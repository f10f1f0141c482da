"""Idempotency-Key: the same request sent twice has its effect once and gets the same answer twice.

One row per owner, route and key. It is leased while the first request runs, so a second one in the
meantime is told so (409), and a server that died leaves a lease that ends by itself. The answer is
stored in the transaction of the effect: either both are there, or neither.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable

from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse

from crawler.accounts.models import IdempotentRequest
from crawler.foundation import lease
from crawler.foundation.clock import clock_of
from crawler.foundation.errors import Conflict, InvalidInput, KeyReused
from crawler.foundation.ids import short_id

KEPT_SECONDS = 24 * 3600
# Longer than any request may take; a request that outlives it is rolled back.
RUNNING_SECONDS = 120
KEY_FORM = re.compile(r"[\x21-\x7e]{1,255}")
REPLAYED = "Idempotent-Replayed"
TABLE = lease.LeaseTable(IdempotentRequest._meta.db_table)


def answer_once(request: HttpRequest, owner: str, key: str, produce: Callable[[], HttpResponse]) -> HttpResponse:
    """The stored answer to this key, or `produce()`'s, stored."""
    if not KEY_FORM.fullmatch(key):
        raise InvalidInput(field="Idempotency-Key", reason="must be 1 to 255 visible ASCII characters")
    row, running = _enter(owner, f"{request.method} {request.path}", key, _digest(request))
    if running is None:
        return _replay(row)
    return _produce_and_store(running, produce)


def _digest(request: HttpRequest) -> str:
    """Keyed, because a body may hold a password that a bare hash would let one guess."""
    text = (request.META.get("QUERY_STRING") or "").encode() + b"\0" + request.body
    return hmac.new(settings.SECRET_KEY.encode(), text, hashlib.sha256).hexdigest()


@transaction.atomic
def _enter(owner: str, route: str, key: str, digest: str) -> tuple[IdempotentRequest, lease.Lease | None]:
    """The row, and a lease on it when there is no answer yet."""
    _insert_if_absent(owner, route, key, digest)
    row = IdempotentRequest.objects.get(owner=owner, route=route, key=key)
    if row.body_digest != digest:
        raise KeyReused(field="Idempotency-Key", reason="the key was used with another request body")
    if row.status is not None:
        return row, None
    held = lease.claim(
        TABLE, short_id("run"), seconds=RUNNING_SECONDS, limit=1, where="id = %s AND status IS NULL", params=[row.pk]
    )
    if not held:
        raise Conflict(
            "The first request with this Idempotency-Key is still running",
            field="Idempotency-Key",
            reason="send the request again in a moment",
            headers={"Retry-After": "1"},
        )
    return row, held[0]


def _insert_if_absent(owner: str, route: str, key: str, digest: str) -> None:
    """Also forgets an answer that is older than a day."""
    clock = clock_of()
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM accounts_idempotentrequest WHERE owner = %s AND route = %s AND key = %s"
            f" AND created_at < {clock.later}",
            [owner, route, key, -KEPT_SECONDS],
        )
        cursor.execute(
            "INSERT INTO accounts_idempotentrequest (owner, route, key, body_digest, created_at, content_type, version)"
            f" VALUES (%s, %s, %s, %s, {clock.now_exact}, '', 0) ON CONFLICT (owner, route, key) DO NOTHING",
            [owner, route, key, digest],
        )


def _produce_and_store(running: lease.Lease, produce: Callable[[], HttpResponse]) -> HttpResponse:
    try:
        with transaction.atomic():
            response = produce()
            if response.status_code < 400:
                _store(running, response)
            else:  # an error changes nothing
                transaction.set_rollback(True)
    except BaseException:
        _forget(running)
        raise
    if response.status_code >= 500:
        _forget(running)
    elif response.status_code >= 400:
        _store(running, response)
    return response


def _store(running: lease.Lease, response: HttpResponse) -> None:
    stored = lease.finish_if_held(
        TABLE,
        running,
        "status = %s, content_type = %s, body = %s",
        [response.status_code, response.get("Content-Type", ""), response.content],
    )
    if not stored:
        raise Conflict("This request took too long and was undone", reason="its Idempotency-Key was given up")


def _forget(running: lease.Lease) -> None:
    """A failure of ours is no answer: the next try with this key starts afresh."""
    IdempotentRequest.objects.filter(pk=running.key, version=running.fence, status=None).delete()


def _replay(row: IdempotentRequest) -> HttpResponse:
    body = bytes(row.body or b"")
    return HttpResponse(body, status=row.status, content_type=row.content_type or None, headers={REPLAYED: "true"})


def purge() -> int:
    """Forget answers older than a day."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM accounts_idempotentrequest WHERE created_at < {clock_of().later}", [-KEPT_SECONDS])
        return int(cursor.rowcount)
