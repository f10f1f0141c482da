"""Run as a program: keeps Django loaded and forks a process for each command, so that starting a worker costs little.

Commands come as JSON lines on standard input, one answer line each goes to standard output; logs go to standard error.
The processes are real: each has its own connections and may be killed at any moment without harm to the others.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

FATAL = signal.SIGKILL
MARK = "fault:"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.project.settings")
    import django

    django.setup()
    import crawler.crawls.working  # noqa: F401 - loaded once, for all

    for line in sys.stdin:
        command = json.loads(line)
        if "wait" in command:
            _, status = os.waitpid(command["wait"], 0)
            answer = {"code": os.waitstatus_to_exitcode(status)}
        else:
            answer = {"pid": _fork(COMMANDS[command.pop("do")], command)}
        print(json.dumps(answer), flush=True)


def _fork(action: Callable[..., None], arguments: dict[str, Any]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        action(**arguments)
        code = 0
    except Exception:  # noqa: BLE001 - told to whoever reads the log
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


def prepare(seeds: list[str], config: dict[str, Any], filters: dict[str, Any]) -> None:
    from crawler.crawls import actions
    from crawler.project.migrations import apply_migrations

    apply_migrations()
    actions.start_crawl(actions.create_crawl("fault", seeds, config, filters))


def work(
    limits: dict[str, float],
    lease_seconds: float | None = None,
    frees_claims: bool = True,
    die_at_statement: int | None = None,
    die_in_write: int | None = None,
) -> None:
    """A worker until nothing is left. It may be told to kill itself before a statement, or in the middle of a write."""
    from crawler.crawls import working
    from crawler.crawls.resuming import release_dead_claims
    from crawler.domains import claims
    from crawler.engine.limits import Limits

    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    stopping: list[bool] = []
    if lease_seconds is not None:
        claims.LEASE_SECONDS = lease_seconds
    if frees_claims:  # whoever starts it knows that the workers before are dead
        release_dead_claims(MARK)
    if die_at_statement is not None:
        kill_at_statement(die_at_statement)
    if die_in_write is not None:
        kill_in_write(die_in_write)
    name = f"{MARK}{os.getpid()}"
    working.work(lambda: bool(stopping), until_done=True, name=name, limits=Limits(**limits))  # type: ignore[arg-type]


def kill_at_statement(number: int) -> None:
    from django.db import connection

    seen = 0

    def count(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), FATAL)
        return execute(sql, params, many, context)

    connection.execute_wrappers.append(count)


def kill_in_write(number: int) -> None:
    from crawler.archive import disk

    write_all, seen = disk.write_all, 0

    def write_half(descriptor: int, content: bytes, at: int) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            write_all(descriptor, content[: len(content) // 2], at)
            os.kill(os.getpid(), FATAL)
        write_all(descriptor, content, at)

    disk.write_all = write_half


COMMANDS: dict[str, Callable[..., None]] = {"prepare": prepare, "work": work}

if __name__ == "__main__":
    main()
