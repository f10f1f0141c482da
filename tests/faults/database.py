"""The database of processes under test, as anybody else would read it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg

from tests.faults.platform import PATIENCE_SECONDS


class Database:
    """PostgreSQL by its URL, else an SQLite file."""

    def __init__(self, url: str | None, file: Path) -> None:
        self.url, self.file = url, file

    @property
    def vendor(self) -> str:
        return "postgresql" if self.url else "sqlite"

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        if self.url:
            with psycopg.connect(self.url) as connection:
                return connection.execute(sql).fetchall()
        reader = sqlite3.connect(self.file, timeout=PATIENCE_SECONDS)
        try:
            return reader.execute(sql).fetchall()
        finally:
            reader.close()

    def one(self, sql: str) -> Any:
        ((value,),) = self.rows(sql)
        return value

    def run_script(self, sql: str) -> None:
        if self.url:
            with psycopg.connect(self.url) as connection:
                connection.execute(sql)
            return
        writer = sqlite3.connect(self.file, timeout=PATIENCE_SECONDS)
        try:
            writer.executescript(sql)
        finally:
            writer.close()
