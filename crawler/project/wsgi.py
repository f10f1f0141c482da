"""What each of the server's processes loads."""

import ctypes
import os
import signal
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from crawler.project.server import PARENT_PID
from crawler.project.stopping import when_asked_to_stop

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """When `crawler serve` is killed, its processes must not keep the port (Linux only)."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    parent = os.environ.get(PARENT_PID)
    if parent and os.getppid() != int(parent):  # it was killed before we could ask
        os.kill(os.getpid(), signal.SIGKILL)


def with_length(answer: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Django reads as much of a body as its Content-Length says: nothing of one that comes in chunks."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
            # One byte more than is allowed is enough to be refused.
            body = environ["wsgi.input"].read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
            environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return answer(environ, start_response)

    return application


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.project.settings")
end_with_parent()
application = with_length(get_wsgi_application())

from crawler.bots.waiting import WAITING  # noqa: E402 - Django has to be there first

when_asked_to_stop(WAITING.end)
