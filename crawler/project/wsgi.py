"""What each of the server's processes loads."""

import ctypes
import os
import signal

from django.core.wsgi import get_wsgi_application

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """When `crawler serve` is killed, its processes must not keep the port. Linux only; elsewhere a no-op."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        pass


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.project.settings")
end_with_parent()
application = get_wsgi_application()
