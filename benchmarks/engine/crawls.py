"""Crawls to measure: by the real command, or by a worker of our own program (worker_process.py)."""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.engine.processes import Ran, run

LOOPBACK = {"FETCH_ALLOWED_NETWORKS": "127.0.0.0/8", "LOG_LEVEL": "warning"}


@dataclass(frozen=True, slots=True)
class Crawled:
    """What a crawl did and cost. `seconds` is the crawl alone, the process's wall time has start and end as well."""

    pages: int
    seconds: float
    wall_seconds: float
    cpu_seconds: float
    peak_mb: float
    others_seconds: float = 0.0  # of its cores' time that other programs had

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.seconds if self.seconds else 0.0

    @property
    def pages_per_second_with_start(self) -> float:
        return self.pages / self.wall_seconds

    @property
    def others_share(self) -> float:
        """How much of the time other programs were on our core: a measure of how little the figures are worth."""
        return self.others_seconds / self.wall_seconds

    @property
    def cpu_microseconds_per_page(self) -> float:
        return self.cpu_seconds / max(1, self.pages) * 1e6


def crawled(ran: Ran, summary: dict[str, Any]) -> Crawled:
    seconds = summary["seconds"] - summary.get("startup_seconds", 0.0)
    peak_mb = summary.get("peak_mb", ran.peak_mb)
    return Crawled(summary["pages"], seconds, ran.wall_seconds, ran.cpu_seconds, peak_mb, ran.others_seconds)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="crawlspace-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def crawl(urls: Sequence[str], out: Path, on: Sequence[int], *options: str) -> Crawled:
    """`crawler crawl … --delay 0 --out OUT --json` on these cores."""
    command = [crawler_program(), "crawl", *urls, "--delay", "0", "--out", str(out), "--json", *options]
    ran = run(command, on, LOOPBACK)
    return crawled(ran, last_object(ran.output))


def crawler_program() -> str:
    """The command of the environment that runs this benchmark."""
    beside = Path(sys.executable).with_name("crawler")
    return (
        str(beside) if beside.exists() else shutil.which("crawler") or sys.exit("the command crawler is not installed")
    )


def worker(spec: dict[str, Any], database_url: str, home: Path, on: Sequence[int]) -> tuple[Crawled, dict[str, Any]]:
    """One worker process as worker_process.py describes it; also what it printed."""
    env = LOOPBACK | {"CRAWLER_HOME": str(home), "DATABASE_URL": database_url, "ARCHIVE_URL": f"file://{home}/archive"}
    ran = run([sys.executable, "-m", "benchmarks.engine.worker_process"], on, env, json.dumps(spec))
    summary = last_object(ran.output)
    return crawled(ran, {"pages": 0, "seconds": 0.0} | summary), summary


def last_object(output: str) -> dict[str, Any]:
    """The last line that is a JSON object, or an object over several lines."""
    for line in reversed(output.splitlines()):
        if line.startswith("{") and line.endswith("}"):
            return dict(json.loads(line))
    return dict(json.loads(output[output.index("{") :]))
