"""The real thing in processes of its own: `crawler …` with a home, a database and a port for one test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from tests.plugin import ON_POSTGRES
from tests.services.servers import free_port

PATIENCE_SECONDS = 60


class Answer:
    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    def json(self) -> Any:
        return json.loads(self.body)


class Running:
    """A `crawler` command that goes on until told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self.printed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self.printed:
                self.lines.append(line.rstrip("\n"))
                self.printed.notify_all()
        with self.printed:
            self.printed.notify_all()

    def wait_for(self, text: str) -> None:
        def settled() -> bool:
            return any(text in line for line in self.lines) or not self.reader.is_alive()

        with self.printed:
            self.printed.wait_for(settled, timeout=PATIENCE_SECONDS)
        assert any(text in line for line in self.lines), f"{text!r} not printed: {self.text}"

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE_SECONDS)
        self.reader.join(PATIENCE_SECONDS)
        return code


class Platform:
    def __init__(self, folder: Path) -> None:
        self.folder: Path | None = None  # where commands run; None: here
        self.home = folder / "home"
        self.port = free_port()
        self.settings = {"CRAWLER_HOME": str(self.home), "PORT": str(self.port)}
        self.running: list[Running] = []
        if ON_POSTGRES:
            self.settings["DATABASE_URL"] = create_database()

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "CRAWLER_HOME")}
        return kept | self.settings

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "crawler.cli"]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            cwd=self.folder,
            timeout=PATIENCE_SECONDS,
        )

    def start(self, *arguments: str) -> Running:
        process = subprocess.Popen(
            [*self.command, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            start_new_session=True,
        )
        self.running.append(Running(process))
        return self.running[-1]

    def up(self, *arguments: str) -> Running:
        running = self.start("up", *arguments)
        running.wait_for("Ctrl-C stops everything.")
        return running

    @property
    def credentials(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.home / "credentials.json").read_text())
        return found

    def ask(self, path: str, method: str = "GET", body: object = None, **headers: str) -> Answer:
        sent = {"Authorization": f"Bearer {self.credentials['api_token']}", "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers=sent | headers,
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read())

    def processes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("/api/v1/processes").json()["processes"]
        return found

    def close(self) -> None:
        for running in self.running:
            if running.process.poll() is None:
                running.stop(signal.SIGTERM)
            assert running.process.stdout is not None
            running.process.stdout.close()


def create_database() -> str:
    """A new empty database in the tests' PostgreSQL."""
    base = os.environ["TEST_POSTGRES_URL"]
    name = f"fault_{uuid4().hex}"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return base.rpartition("/")[0] + f"/{name}"


def exists(pid: int) -> bool:
    """Whether a process lives (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
