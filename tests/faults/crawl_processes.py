"""Workers as processes, for tests that kill, stop and starve them; and the database as anybody else would read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.faults.database import Database
from tests.faults.platform import PATIENCE_SECONDS, create_database
from tests.plugin import ON_POSTGRES

ROOT = Path(__file__).resolve().parents[2]
# Small batches: many commits in a short life.
LIMITS = {"batch_pages": 6, "batch_seconds": 0.15, "control_seconds": 0.2, "full_disk_seconds": 0.1}


class CrawlProcesses:
    """A home with a database and an archive, and workers on it."""

    program = "tests.faults.fork_server"

    def __init__(self, folder: Path, database_url: str | None = None) -> None:
        self.archive = folder / "archive"
        self.database = folder / "crawl.sqlite3"
        url = database_url or (create_database() if ON_POSTGRES else f"sqlite:///{self.database}")
        self.read = Database(url if url.startswith("postgresql") else None, self.database)
        settings = {
            "CRAWLER_HOME": str(folder), "DATABASE_URL": url, "ARCHIVE_URL": self.archive.as_uri(),
            "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8", "LOG_LEVEL": "info",
        }  # fmt: skip
        self.server = subprocess.Popen(
            [sys.executable, "-m", self.program],
            env=os.environ | settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, cwd=ROOT,
        )  # fmt: skip
        self.logged: list[str] = []
        self.printed = threading.Condition()
        self.reader = threading.Thread(target=self._read_logs, daemon=True)
        self.reader.start()

    def prepare(self, *seeds: str, allowed: list[str], **config: Any) -> None:
        """Create and start the one crawl of this home; `allowed` are its domains."""
        pid = self._ask(do="prepare", seeds=seeds, config=config, filters={"allowed_domains": allowed})["pid"]
        assert self.wait(pid) == 0, self.log

    def work(self, **options: Any) -> int:
        """The pid of a new worker."""
        limits = LIMITS | options.pop("limits", {})
        return int(self._ask(do="work", limits=limits, **options)["pid"])

    def do(self, command: str, **options: Any) -> int:
        """Run a command to its end; its exit code."""
        return self.wait(int(self._ask(do=command, **options)["pid"]))

    def wait(self, pid: int) -> int:
        """Its exit code once it has ended; below zero: the signal that killed it."""
        return int(self._ask(wait=pid)["code"])

    def wait_for_log(self, text: str) -> None:
        def found() -> bool:
            return any(text in line for line in self.logged) or not self.reader.is_alive()

        with self.printed:
            self.printed.wait_for(found, timeout=PATIENCE_SECONDS)
        assert any(text in line for line in self.logged), f"{text!r} was not logged: {self.log}"

    @property
    def log(self) -> str:
        return "".join(self.logged)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.read.rows(sql)

    def one(self, sql: str) -> Any:
        return self.read.one(sql)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.server.stdin is not None and self.server.stdout is not None and self.server.stderr is not None
        self.server.stdin.close()
        self.server.wait(PATIENCE_SECONDS)
        self.reader.join(PATIENCE_SECONDS)
        self.server.stdout.close()
        self.server.stderr.close()

    def _ask(self, **command: Any) -> dict[str, Any]:
        assert self.server.stdin is not None and self.server.stdout is not None
        self.server.stdin.write(json.dumps(command) + "\n")
        self.server.stdin.flush()
        line = self.server.stdout.readline()
        assert line, self.log
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _read_logs(self) -> None:
        assert self.server.stderr is not None
        for line in self.server.stderr:
            with self.printed:
                self.logged.append(line)
                self.printed.notify_all()
        with self.printed:
            self.printed.notify_all()
