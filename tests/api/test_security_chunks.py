"""Bodies without a Content-Length."""

from __future__ import annotations

from io import BytesIO
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.wsgi import WSGIRequest

from crawler.accounts import limits
from crawler.project.chunks import with_length


def read_in_chunks(body: bytes) -> bytes:
    """What Django makes of it."""
    environ: dict[str, Any] = {"REQUEST_METHOD": "POST", "HTTP_TRANSFER_ENCODING": "chunked"}
    setup_testing_defaults(environ)
    environ["wsgi.input"] = BytesIO(body)
    answer = with_length(lambda environ, start_response: [WSGIRequest(environ).body])
    return b"".join(answer(environ, None))


def test_they_are_read() -> None:
    assert read_in_chunks(b'{"bot_id": "bot-001"}') == b'{"bot_id": "bot-001"}'


def test_they_are_as_limited_as_others(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert len(read_in_chunks(b"x" * 1000)) == 1000
    with pytest.raises(RequestDataTooBig):
        read_in_chunks(b"x" * 1001)


def test_a_flood_of_names_does_not_make_every_count_slow() -> None:
    """The table of counts is tidied when it has doubled, not with each request."""
    tally = limits.Tally()
    tally.FEW_SUBJECTS = tally.tidy_at = 10
    for number in range(100):
        tally.count(f"bot:{number}", limits.BOTS)
    assert len(tally.minutes) == 100
    assert tally.tidy_at >= 100
