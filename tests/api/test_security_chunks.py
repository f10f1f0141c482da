"""Bodies without a Content-Length."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.handlers.wsgi import WSGIHandler

from crawler.accounts import limits
from crawler.project.chunks import with_length
from tests.api.bots import Bot

pytestmark = pytest.mark.django_db


def pull_in_chunks(body: bytes) -> tuple[str, dict[str, Any]]:
    environ: dict[str, Any] = {"PATH_INFO": "/api/crawl/pull/", "REQUEST_METHOD": "POST", "HTTP_HOST": "localhost"}
    environ |= {"wsgi.input": BytesIO(body), "HTTP_TRANSFER_ENCODING": "chunked"}
    setup_testing_defaults(environ)
    statuses: list[str] = []
    answer = with_length(WSGIHandler())(environ, lambda status, headers, *_: statuses.append(status))
    return statuses[0], json.loads(b"".join(answer))


def test_they_are_read() -> None:
    bot = Bot()
    status, answer = pull_in_chunks(json.dumps({"bot_id": bot.bot_id, "api_token": bot.token}).encode())
    assert (status, answer["data"]["count"]) == ("200 OK", 0)


def test_they_are_as_limited_as_others(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    status, answer = pull_in_chunks(b"x" * 5000)
    assert status.startswith("413")
    assert answer["error"] == "validation_error"


def test_a_flood_of_names_does_not_make_every_count_slow() -> None:
    """The table of counts is tidied when it has doubled, not with each request."""
    tally = limits.Tally()
    tally.FEW_SUBJECTS = tally.tidy_at = 10
    for number in range(100):
        tally.count(f"bot:{number}", limits.BOTS)
    assert len(tally.minutes) == 100
    assert tally.tidy_at >= 100
