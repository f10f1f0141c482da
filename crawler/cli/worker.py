from __future__ import annotations

import sys
from typing import Annotated

import typer

from crawler.cli.ready import load_django
from crawler.cli.serve import StopWithParent
from crawler.cli.up import stop_on_signals


def worker(
    processes: Annotated[int, typer.Option(min=1, max=64, help="Worker processes, one a core.")] = 1,
    stop_with_parent: StopWithParent = False,
) -> None:
    """Run workers alone: they crawl what is due until they are stopped."""
    load_django()
    from crawler.processes import heartbeat

    if processes > 1:
        return supervise(processes, stop_with_parent)
    from crawler.processes import worker as process

    stop = heartbeat.stop_on_signals()
    if stop_with_parent:
        heartbeat.stop_with_parent()
    process.run(stop)


def supervise(processes: int, stop_with_parent: bool) -> None:
    """Several, each in a process of its own that is started again when it dies."""
    from crawler.processes import heartbeat
    from crawler.project.supervisor import Child, Supervisor

    children = [Child(f"worker {number}", ["worker"]) for number in range(1, processes + 1)]
    supervisor = Supervisor(children, None, say)
    stop_on_signals(supervisor)
    if stop_with_parent:
        heartbeat.stop_with_parent()
    try:
        supervisor.start()
        supervisor.watch()
    finally:
        supervisor.stop()


def say(message: str) -> None:
    print(f"crawler: {message}", file=sys.stderr, flush=True)
