"""What a full frontier costs: pages a second with millions of URLs in it beside ten thousand.

    python -m benchmarks.engine.bench_growth [--quick] [--rounds N] [--pages N] [--database-url URL]

The frontier is filled in bulk (full_frontier.py says with what), then the first pages of openjdk-17-doc are crawled by
one worker on one core, links stored, nginx on another core. SQLite files are kept filled in the temporary folder and
copied for each round. With --database-url postgresql://… an EMPTY database whose name has "bench" in it is filled anew
for every round; keep its server off the worker's core (taskset), or nothing is decided. The sides take turns, and the
fastest round of each counts. Memory is the worker's peak.
"""

import argparse
import hashlib
import multiprocessing
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks import corpora, full_frontier
from benchmarks.engine.crawls import Crawled, scratch_folder, worker
from benchmarks.engine.processes import cores
from benchmarks.engine.verdicts import HEADING, fastest, row, verdict
from benchmarks.engine.webserver import serve_sites

SMALL, LARGE, QUICK_LARGE = 10_000, 5_000_000, 200_000
PAGES, QUICK_PAGES = 5_000, 1_000
PORT = 18_189  # fixed, because the domain's name in the filled file has it
TARGET_RATIO, TARGET_MB = 0.9, 500
NAME = "growth"

Prepare = Callable[[int, Path], str]


class Growth:
    """Both sizes in turns."""

    def __init__(self, core: int, port: int, pages: int) -> None:
        self.core, self.domain, self.pages = core, f"127.0.0.1:{port}", pages
        self.rounds: dict[int, list[Crawled]] = {}

    def spec(self, **more: Any) -> dict[str, Any]:
        config = {"crawl_delay_ms": 0, "store_outlinks": True}
        return {"name": NAME, "seeds": [f"http://{self.domain}/index.html"], "config": config} | more

    def measure(self, size: int, prepare: Prepare) -> None:
        with scratch_folder() as home:
            database_url = prepare(size, home)
            os.sync()  # else the crawl pays for writing the copy
            done, _ = worker(self.spec(pages=self.pages), database_url, home, [self.core])
        self.rounds.setdefault(size, []).append(done)
        print(row(f"{size:,} URLs in the frontier, {done.pages:,} pages", done), flush=True)

    # SQLite.

    def copied_file(self, size: int, home: Path) -> str:
        target = home / "crawl.sqlite3"
        shutil.copyfile(self._filled_file(size), target)
        return f"sqlite:///{target}"

    def _filled_file(self, size: int) -> Path:
        corpora.CACHE.mkdir(parents=True, exist_ok=True)
        with scratch_folder() as home:
            fresh = home / "crawl.sqlite3"
            _, made = worker(self.spec(make_only=True), f"sqlite:///{fresh}", home, [self.core])
            file = corpora.CACHE / f"growth-{size}-{self.domain.rpartition(':')[2]}-{schema_of(fresh)}.sqlite3"
            if not file.exists():
                began = time.perf_counter()
                _apart(full_frontier.fill_sqlite, str(fresh), made["crawl"], self.domain, size)
                shutil.move(fresh, file.with_suffix(".part"))
                file.with_suffix(".part").rename(file)
                took, megabytes = time.perf_counter() - began, file.stat().st_size / 1e6
                print(f"filled {file.name}: {size:,} URLs, {megabytes:,.0f} MB, in {took:.0f} s", flush=True)
        return file

    # PostgreSQL.

    def filled_postgresql(self, database_url: str) -> Prepare:
        import psycopg

        def prepare(size: int, home: Path) -> str:
            with psycopg.connect(database_url) as connection:
                _empty(connection)
            _, made = worker(self.spec(make_only=True), database_url, home, [self.core])
            began = time.perf_counter()
            _apart(full_frontier.fill_postgresql, database_url, made["crawl"], self.domain, size)
            print(f"filled {size:,} URLs in {time.perf_counter() - began:.0f} s", flush=True)
            return database_url

        return prepare


def _apart(fill: Callable[..., None], *arguments: Any) -> None:
    """In a process of its own: what it needs of memory would be counted as its later brothers' too."""
    process = multiprocessing.get_context("spawn").Process(target=fill, args=arguments)
    process.start()
    process.join()
    if process.exitcode != 0:
        sys.exit("the frontier could not be filled")


def _empty(connection: Any) -> None:
    """Everything goes; only of a database that says it is for this."""
    (name,) = connection.execute("SELECT current_database()").fetchone()
    if "bench" not in name:
        sys.exit(f'the database {name} would be emptied; use one that has "bench" in its name')
    connection.execute("DROP SCHEMA public CASCADE")
    connection.execute("CREATE SCHEMA public")
    connection.commit()


def schema_of(file: Path) -> str:
    """A word for the database's shape: a file that was filled for another one is not used."""
    with closing(sqlite3.connect(file)) as database:
        statements = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    return hashlib.sha256(repr(statements).encode()).hexdigest()[:10]


def print_verdicts(small: list[Crawled], large: list[Crawled], size: int) -> None:
    few, many = fastest(small), fastest(large)
    ratio = many.pages_per_second / few.pages_per_second
    print(verdict(f"{size:,} URLs / {SMALL:,} URLs, pages a second", ratio, TARGET_RATIO, of=[few, many]))
    cpu = few.cpu_microseconds_per_page / many.cpu_microseconds_per_page
    print(f"  by the processor's time per page: {cpu:.2f}x")
    peak = max(one.peak_mb for one in large)
    print(verdict(f"worker memory with {size:,} URLs", peak, TARGET_MB, unit=" MB", at_most=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="200,000 URLs: for a look, not for a claim")
    parser.add_argument("--rounds", type=int, default=0, help="turns of each side (2; quick: 1)")
    parser.add_argument("--pages", type=int, default=0, help="pages to crawl (5,000; quick: 1,000)")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--database-url", default="", help="an empty PostgreSQL database instead of SQLite")
    chosen = parser.parse_args()
    large = QUICK_LARGE if chosen.quick else LARGE
    for_server, for_worker = cores(2)
    with serve_sites([corpora.folder_of(corpora.OPENJDK)], [for_server], port=chosen.port):
        growth = Growth(for_worker, chosen.port, chosen.pages or (QUICK_PAGES if chosen.quick else PAGES))
        prepare = growth.filled_postgresql(chosen.database_url) if chosen.database_url else growth.copied_file
        print(HEADING)
        for _ in range(chosen.rounds or (1 if chosen.quick else 2)):
            growth.measure(SMALL, prepare)
            growth.measure(large, prepare)
    print_verdicts(growth.rounds[SMALL], growth.rounds[large], large)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
