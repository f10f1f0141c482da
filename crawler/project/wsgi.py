"""What each of the server's processes loads."""

import ctypes
import os
import signal

from django.core.wsgi import get_wsgi_application

from crawler.project.chunks import with_length
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


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.project.settings")
end_with_parent()
application = with_length(get_wsgi_application())

from crawler.bots.waiting import WAITING  # noqa: E402 - Django has to be there first

when_asked_to_stop(WAITING.end)
