"""The API and page server: granian running Django as WSGI in threads."""

from __future__ import annotations

import multiprocessing
import os

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from crawler.foundation import logs
from crawler.foundation.config import Config

# How long a request may go on after the server was asked to stop.
GRACE_SECONDS = 5
# Tells the server's processes whose they are.
PARENT_PID = "CRAWLSPACE_SERVER_PID"


def serve(config: Config) -> None:
    """Until SIGINT or SIGTERM."""
    os.environ[PARENT_PID] = str(os.getpid())
    # A forked process would share the parent's database connections, and its pool would have no threads.
    multiprocessing.set_start_method("spawn", force=True)
    Granian(
        "crawler.project.wsgi:application",
        address=config.bind_address,
        port=config.port,
        interface=Interfaces.WSGI,
        workers=config.server_processes,
        blocking_threads=config.server_threads,
        respawn_failed_workers=True,
        workers_kill_timeout=GRACE_SECONDS,
        log_level=LogLevels.error,
        log_dictconfig=logs.configuration(config.log_level),
    ).serve()
