"""A PostgreSQL of our own, as it comes: every commit is on the disk before it is answered."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.services.packages import postgres_programs
from tests.services.servers import Services

# None: durability above all is what PostgreSQL comes with.
OPTIONS: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Postgres:
    port: int
    programs: Path

    def url(self, database: str) -> str:
        return f"postgresql://crawlspace@127.0.0.1:{self.port}/{database}"

    def execute(self, database: str, *statements: str) -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def value(self, database: str, query: str) -> Any:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            row = connection.execute(query).fetchone()
            assert row is not None
            return row[0]

    def create(self, database: str, template: str = "template1") -> None:
        self.execute("postgres", f'CREATE DATABASE "{database}" TEMPLATE "{template}" STRATEGY FILE_COPY')

    def settle(self) -> None:
        """What was written before is no burden for what is measured next."""
        self.execute("postgres", "CHECKPOINT")

    def bench(self, database: str, script: str, clients: int, seconds: float) -> "Transactions":
        """Runs a script of pgbench with prepared statements."""
        command: list[str | Path] = [
            self.programs / "pgbench", "--no-vacuum", "--protocol=prepared", "--file=-", f"--client={clients}",
            f"--time={max(1, round(seconds))}", "--jobs=1", "--host=127.0.0.1", f"--port={self.port}",
            "--username=crawlspace", database,
        ]  # fmt: skip
        done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"pgbench failed: {done.stderr[-2000:]}")
        return Transactions.read(done.stdout)


@dataclass(frozen=True, slots=True)
class Transactions:
    count: int
    per_second: float

    @classmethod
    def read(cls, output: str) -> "Transactions":
        count = next(line for line in output.splitlines() if "actually processed" in line)
        rate = next(line for line in output.splitlines() if line.startswith("tps ="))
        return cls(int(count.partition(": ")[2].partition("/")[0]), float(rate.split()[2]))


@contextmanager
def private_postgres() -> Iterator[Postgres]:
    """Gone afterwards, with its data."""
    services = Services(postgres_options=OPTIONS)
    services.start(redis=False)
    try:
        postgres = Postgres(services.postgres_port, postgres_programs())
        until_started(postgres)
        yield postgres
    finally:
        services.stop()


def until_started(postgres: Postgres) -> None:
    """It accepts connections a moment before it serves them."""
    for _ in range(100):
        try:
            postgres.value("postgres", "SELECT 1")
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("PostgreSQL did not start")


def stop_on_sigterm() -> None:
    """Like Ctrl-C: what was started is stopped and cleared away."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
