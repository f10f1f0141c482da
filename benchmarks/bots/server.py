"""The real server, `crawler serve`, and bots that drive it from outside."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.services.servers import free_port

START_SECONDS = 60
# Threads and processes as a platform with many bots would have them on two cores; bots are not slowed down.
SETTINGS = {"SERVER_PROCESSES": "2", "SERVER_THREADS": "16", "RATE_LIMIT_BOTS": "0"}


@dataclass(frozen=True, slots=True)
class Served:
    """What bots got done in one go."""

    accepted: int
    jobs_per_second: float
    pulls: tuple[float, ...]  # seconds, ascending

    def pull_at(self, share: float) -> float:
        return self.pulls[min(len(self.pulls) - 1, int(share * len(self.pulls)))]

    @property
    def pull_median(self) -> float:
        return statistics.median(self.pulls)


@contextmanager
def serving(url: str, **settings: str) -> Iterator[int]:
    """The port of a server on that database."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="crawlspace-bench-") as home:
        environment = os.environ | SETTINGS | {"DATABASE_URL": url, "CRAWLER_HOME": home, "PORT": str(port)} | settings
        with open(os.path.join(home, "server.log"), "w+") as log:
            command = [sys.executable, "-m", "crawler.cli", "serve"]
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            try:
                until_ready(process, port)
                yield port
            finally:
                process.terminate()
                process.wait(30)


def until_ready(process: subprocess.Popen[bytes], port: int) -> None:
    ends_at = time.monotonic() + START_SECONDS
    while time.monotonic() < ends_at and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


def drive(port: int, bots: int, seconds: float, way: str) -> Served:
    asked = json.dumps({"port": port, "bots": bots, "seconds": seconds, "way": way})
    command = [sys.executable, "-m", "benchmarks.bots.load", asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the bots failed: {done.stderr[-2000:]}")
    told = json.loads(done.stdout)
    for error in told["errors"]:
        print(f"  WRONG {error}", flush=True)
    return Served(told["accepted"], told["counted"] / seconds, tuple(sorted(told["pull_seconds"])))
