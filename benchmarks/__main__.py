"""Runs benchmarks and prints their figures: `make bench`, or `make bench ARGS="engine.crawl --quick"`, a room with
`make bench ARGS="bots"`.

What begins with a dash goes to every benchmark that is run.
"""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import benchmarks


def names() -> list[str]:
    """Every benchmark as `room.topic`, e.g. web.urls."""
    found = pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")
    return [name.removeprefix("benchmarks.").replace("bench_", "") for _, name, _ in found if ".bench_" in name]


def matching(wanted: str) -> list[str]:
    """The benchmark of that name, or all of a room."""
    return [name for name in names() if name == wanted or name.startswith(f"{wanted}.")]


def module_of(name: str) -> str:
    room, _, topic = name.rpartition(".")
    return f"benchmarks.{room}.bench_{topic}"


def main(arguments: list[str]) -> int:
    """Each in a process of its own, so that none profits from what another loaded."""
    options = [argument for argument in arguments if argument.startswith("-")]
    wanted = [argument for argument in arguments if not argument.startswith("-")]
    unknown = [name for name in wanted if not matching(name)]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    codes = []
    for name in [name for one in wanted for name in matching(one)] or names():
        print(f"== {name}", flush=True)
        codes.append(subprocess.run([sys.executable, "-m", module_of(name), *options], check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
