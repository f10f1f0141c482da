"""The worker process. What it works on comes with the engine; until then it signs in and waits."""

from __future__ import annotations

import threading

from crawler.processes.heartbeat import signed_in


def run(stop: threading.Event) -> None:
    with signed_in("worker"):
        stop.wait()
