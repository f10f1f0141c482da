"""Request bodies that come in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from django.conf import settings

Application = Callable[..., Iterable[bytes]]


def with_length(answer: Application) -> Application:
    """Django reads as much of a body as its Content-Length says: nothing of one that comes in chunks."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
            # One byte more than is allowed is enough to be refused.
            body = environ["wsgi.input"].read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
            environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return answer(environ, start_response)

    return application
