"""Starts and stops the two servers."""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tests.services.packages import Missing, postgres_programs, redis_program

START_SECONDS = 30.0
# Durability costs time and is not under test here; the crash tests kill clients, not this server.
POSTGRES_OPTIONS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "128MB",
}


def free_port() -> int:
    """A port that nobody listens on. Below the range of outgoing connections, and no two test workers share one:
    servers that listen with SO_REUSEPORT would share it silently."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw7")[2:]) % 8
    while True:
        port = 16_000 + 8 * random.randrange(2_000) + worker
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Services:
    """Both servers; `start` raises Missing with one line when one cannot be had."""

    def __init__(self, postgres_options: Mapping[str, str] = POSTGRES_OPTIONS) -> None:
        self.postgres_port, self.redis_port = free_port(), free_port()
        self.postgres_options = postgres_options
        self.folder: Path | None = None
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def postgres_url(self) -> str:
        return f"postgresql://crawlspace@127.0.0.1:{self.postgres_port}/postgres"

    @property
    def redis_url(self) -> str:
        return f"redis://127.0.0.1:{self.redis_port}/0"

    def start(self, redis: bool = True) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="crawlspace-tests-"))
        self.folder.chmod(0o755)
        try:
            if redis:
                self.start_redis(self.folder / "redis")
            self.start_postgres(self.folder / "postgres")
        except BaseException:
            self.stop()
            raise

    def start_postgres(self, data: Path) -> None:
        programs, login = postgres_programs(), unprivileged_login()
        data.mkdir()
        if login:
            shutil.chown(data, login)
        initdb: list[str | Path] = [
            programs / "initdb",
            "-D",
            data,
            "-U",
            "crawlspace",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
        ]
        done = subprocess.run([*initdb, "--locale=C.UTF-8"], capture_output=True, text=True, user=login, cwd="/")
        if done.returncode:
            raise Missing(f"PostgreSQL's initdb failed: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
        options = [f"-c{name}={value}" for name, value in self.postgres_options.items()]
        place = [f"-cport={self.postgres_port}", "-clisten_addresses=127.0.0.1", "-cunix_socket_directories="]
        self.spawn("PostgreSQL", [programs / "postgres", "-D", data, *place, *options], self.postgres_port, login)

    def start_redis(self, data: Path) -> None:
        data.mkdir()
        command: list[str | Path] = [
            redis_program(),
            "--port",
            str(self.redis_port),
            "--bind",
            "127.0.0.1",
            "--dir",
            data,
        ]
        self.spawn("Redis", [*command, "--save", "", "--appendonly", "no"], self.redis_port, None)

    def spawn(self, name: str, command: list[str | Path], port: int, login: str | None) -> None:
        assert self.folder is not None
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, user=login, cwd="/", start_new_session=True)
        self.processes.append(process)
        deadline = time.monotonic() + START_SECONDS
        while not accepts(port):
            if process.poll() is not None or time.monotonic() > deadline:
                lines = (self.folder / f"{name}.log").read_text(errors="replace").strip().splitlines()
                raise Missing(f"the tests' {name} did not start: {lines[-1] if lines else 'no message'}")
            time.sleep(0.02)

    def stop(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGINT)  # PostgreSQL: end sessions, stop now
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        self.processes.clear()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def unprivileged_login() -> str | None:
    """PostgreSQL refuses to run as root; Debian's package brings a user for it."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0
