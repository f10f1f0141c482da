"""Processes of their own on cores of their own, and what they cost."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

QUIET_LOAD = 0.7
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Ran:
    """One process from its start to its end."""

    output: str
    wall_seconds: float
    cpu_seconds: float
    peak_mb: float
    others_seconds: float  # of its cores' time that other programs had


def cores(count: int) -> list[int]:
    """The first cores that we may use. Ends the program when there are fewer."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < count:
        sys.exit(f"this benchmark needs {count} cores; there are {len(usable)}")
    load = os.getloadavg()[0]
    if load > QUIET_LOAD:
        print(f"NOTE: the machine is not quiet (load {load:.1f}); do not trust these figures", flush=True)
    return usable[:count]


def pinned(on: Sequence[int]) -> Callable[[], None]:
    """For `preexec_fn`: the same as taskset -c, and as many open files as we may have."""

    def pin() -> None:
        os.sched_setaffinity(0, on)
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    return pin


def run(command: Sequence[str], on: Sequence[int], env: dict[str, str], stdin: str = "") -> Ran:
    """Runs it to its end. Ends the program, with what the command said, when it fails."""
    with tempfile.TemporaryFile("w+") as asked, tempfile.TemporaryFile("w+") as errors:
        asked.write(stdin)
        asked.seek(0)
        began, busy_before = time.perf_counter(), busy_seconds(on)
        process = subprocess.Popen(
            command, env=_environment() | env, text=True, preexec_fn=pinned(on), stdin=asked, stdout=subprocess.PIPE,
            stderr=errors,
        )  # fmt: skip
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall, busy = time.perf_counter() - began, busy_seconds(on) - busy_before
        if process.returncode != 0:
            errors.seek(0)
            said = (output + errors.read())[-3000:]
            sys.exit(f"{' '.join(command)[:300]} ended with {process.returncode}:\n{said}")
    used = usage.ru_utime + usage.ru_stime
    return Ran(output, wall, used, usage.ru_maxrss / 1024, max(0.0, busy - used))


def _environment() -> dict[str, str]:
    """Ours without the variables that are for benchmarks: the platform refuses settings that it does not know."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CRAWLER_")}


def busy_seconds(on: Sequence[int]) -> float:
    """How long these cores have worked since the machine started, for whomever, or were lent to another machine."""
    names = {f"cpu{core}" for core in on}
    rows = [line.split() for line in Path("/proc/stat").read_text().splitlines() if line.startswith("cpu")]
    idle, waiting_for_disk = 4, 5
    ticks = [
        sum(int(value) for place, value in enumerate(row[1:9], 1) if place not in (idle, waiting_for_disk))
        for row in rows
        if row[0] in names
    ]
    return sum(ticks) / TICKS_PER_SECOND


def cpu_seconds(pid: int) -> float:
    """What a process that still runs has used so far, its own threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
