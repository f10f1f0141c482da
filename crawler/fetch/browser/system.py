"""Processes as the kernel lists them: whose child, which session, how much memory. Linux only, from /proc."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
# What is only this process's: pages of files and libraries are shared by all of a browser's processes.
OWN_MEMORY = ("RssAnon:", "RssShmem:")


class Process(NamedTuple):
    pid: int
    parent: int
    session: int


def running() -> list[Process]:
    """All that live; zombies do not."""
    found = (process_of(entry) for entry in os.listdir(PROC) if entry.isdigit())
    return [process for process in found if process]


def process_of(pid: str) -> Process | None:
    with suppress(OSError):
        # The name in brackets may hold anything, brackets too.
        state, parent, _, session = (PROC / pid / "stat").read_bytes().rpartition(b")")[2].split()[:4]
        return None if state in b"ZX" else Process(int(pid), int(parent), int(session))
    return None


def descendants(ancestor: int) -> list[Process]:
    everyone = running()
    found: list[Process] = []
    parents = {ancestor}
    while parents:
        children = [process for process in everyone if process.parent in parents]
        found += children
        parents = {process.pid for process in children}
    return found


def in_sessions(sessions: Collection[int]) -> list[Process]:
    return [process for process in running() if process.session in sessions]


def memory_bytes(pid: int) -> int:
    with suppress(OSError):
        lines = (PROC / str(pid) / "status").read_text(errors="replace").splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(OWN_MEMORY))
    return 0


def is_renderer(pid: int) -> bool:
    with suppress(OSError):
        return b"--type=renderer" in (PROC / str(pid) / "cmdline").read_bytes()
    return False


def kill(processes: Iterable[Process]) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signal.SIGKILL)
