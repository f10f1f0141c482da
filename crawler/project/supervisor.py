"""`crawler up`: starts server, scheduler and workers, keeps them running, stops them together.

Each child runs in a session of its own, so Ctrl-C reaches only the supervisor, which asks the children
to stop and waits. A child's standard input is a pipe from here: when the supervisor dies, even by
kill -9, the pipe closes and the child stops itself. Their log lines go to one file that is rotated.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

STOP_SECONDS = 8.0
LONGEST_PAUSE_SECONDS = 30.0
# A child that lived this long was healthy: its next crash starts with a short pause again.
HEALTHY_SECONDS = 60.0


@dataclass
class Child:
    name: str
    arguments: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    crashes: int = 0
    restart_at: float = 0.0
    last_lines: list[str] = field(default_factory=list)

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None


class Supervisor:
    """The children's lines go to `log_file`, or to our standard error without one."""

    def __init__(self, children: list[Child], log_file: Path | None, say: Callable[[str], None]) -> None:
        self.children = children
        self.say = say
        self.stopping = threading.Event()
        self.lines: logging.Handler = logging.StreamHandler()
        if log_file:
            self.lines = RotatingFileHandler(log_file, maxBytes=20_000_000, backupCount=3, delay=True)
        self.lines.setFormatter(logging.Formatter("%(message)s"))

    def start(self) -> None:
        for child in self.children:
            self.spawn(child)

    def spawn(self, child: Child) -> None:
        command = [sys.executable, "-m", "crawler.cli", *child.arguments, "--stop-with-parent"]
        child.process = subprocess.Popen(  # noqa: S603 - our own command
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        child.started_at = time.monotonic()
        threading.Thread(target=self.copy_lines, args=(child, child.process.stdout), daemon=True).start()

    def copy_lines(self, child: Child, output: IO[bytes]) -> None:
        for raw in output:
            line = raw.decode(errors="replace").rstrip("\n")
            child.last_lines = [*child.last_lines[-4:], line]
            self.lines.emit(logging.makeLogRecord({"msg": line}))

    def watch(self) -> None:
        """Restart what ends, until asked to stop."""
        while not self.stopping.wait(0.2):
            for child in self.children:
                self.tend(child)

    def tend(self, child: Child) -> None:
        if child.running:
            return
        now = time.monotonic()
        if child.process is not None:
            self.note_crash(child, now)
        elif now >= child.restart_at:
            self.spawn(child)

    def note_crash(self, child: Child, now: float) -> None:
        code = child.process.returncode if child.process else 0
        child.crashes = 1 if now - child.started_at > HEALTHY_SECONDS else child.crashes + 1
        pause = min(LONGEST_PAUSE_SECONDS, 2.0 ** (child.crashes - 1))
        # A killed server leaves its own processes behind, and with them the port.
        signal_group(child, signal.SIGKILL)
        child.process, child.restart_at = None, now + pause
        self.say(f"{child.name} ended with code {code}; starting it again in {pause:.0f} s")

    def stop(self) -> None:
        """Ask everybody, wait, and kill what is left."""
        self.stopping.set()
        running = [child for child in self.children if child.running]
        for child in running:
            signal_group(child, signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        for child in running:
            self.wait_or_kill(child, max(0.1, deadline - time.monotonic()))
        self.lines.close()

    def wait_or_kill(self, child: Child, seconds: float) -> None:
        if child.process is None:
            return
        try:
            child.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.say(f"{child.name} did not stop in time and was killed")
        # Also whatever the child itself had started and left behind.
        signal_group(child, signal.SIGKILL)


def signal_group(child: Child, number: signal.Signals) -> None:
    if child.process is None:
        return
    try:
        if number is signal.SIGKILL:
            os.killpg(child.process.pid, number)
        else:
            child.process.send_signal(number)
    except ProcessLookupError:
        pass
