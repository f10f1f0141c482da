"""What each of the server's processes loads."""

import ctypes
import gc
import os
import signal

from django.core.wsgi import get_wsgi_application

from crawler.project.chunks import with_length
from crawler.project.server import PARENT_PID
from crawler.project.stopping import when_asked_to_stop

PR_SET_PDEATHSIG = 1
# Requests make few circles of references. Looking for them after every 700 objects took a tenth of the time.
OBJECTS_BETWEEN_COLLECTIONS = 20_000


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
others = get_wsgi_application()

from crawler.bots.waiting import WAITING  # noqa: E402 - Django has to be there first
from crawler.project.bots_first import BotsFirst  # noqa: E402

application = with_length(BotsFirst(others))

when_asked_to_stop(WAITING.end)

# What is loaded by now stays: no collection has to look at it again.
gc.collect()
gc.freeze()
gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
