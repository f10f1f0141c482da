"""Two processes on two cores over two domains, beside one process on one core over the same.

    python -m benchmarks.engine.bench_processes [--quick] [--rounds N]

The real command both times: `crawler crawl URL1 URL2 --delay 0 --out DIR --json --processes N`, into one SQLite file.
The second domain is a copy of the first whose pages differ by a comment, so that nothing is a duplicate.

Pages a second are counted from the first to the last page by the crawl's own log. One process has a core and nginx
another. Two processes have both cores, and nginx too unless the machine has a third. Then the cores' time was 2 x wall,
of which nginx used what /proc/PID/stat says, and the crawl had the rest: pages / (wall - nginx / 2) is the rate with
the server excluded. Time in which a core was idle, for instance waiting for the database's lock, counts against us.
"""

import argparse
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.engine import corpora
from benchmarks.engine.completeness import database_in
from benchmarks.engine.crawls import Crawled, crawl, scratch_folder
from benchmarks.engine.processes import cores
from benchmarks.engine.verdicts import HEADING, fastest, row, verdict
from benchmarks.engine.webserver import serve_sites

TARGET = 1.7
LOGGED_SECONDS = "SELECT (julianday(max(crawled_at)) - julianday(min(crawled_at))) * 86400 FROM crawl_log"
SHARES = "SELECT count(*) FROM crawled_documents GROUP BY substr(storage_path, 1, instr(storage_path, '#'))"
TWICE = "SELECT count(*) FROM (SELECT 1 FROM crawl_log GROUP BY url_hash HAVING count(*) > 1)"


def measure(
    roots: Sequence[Path], processes: int, on: Sequence[int], server_on: Sequence[int]
) -> tuple[Crawled, float]:
    """The crawl by its own log, and the seconds of processor that nginx used for it."""
    with serve_sites(roots, server_on) as (server, ports), scratch_folder() as out:
        urls = [f"http://127.0.0.1:{port}/index.html" for port in ports]
        done = crawl(urls, out, on, "--processes", str(processes))
        with closing(sqlite3.connect(database_in(out))) as database:
            (seconds,) = database.execute(LOGGED_SECONDS).fetchone()
            shares = sorted(count for (count,) in database.execute(SHARES))
            (twice,) = database.execute(TWICE).fetchone()
        if len(shares) != processes:  # files of the archive; each worker has its own
            print(f"WRONG: {len(shares)} of {processes} processes fetched anything: {shares}")
        if twice:
            print(f"WRONG: {twice} URLs were asked for twice")
        return replace(done, seconds=seconds), server.cpu_seconds()


def without_server(done: Crawled, server_seconds: float, shared: bool) -> Crawled:
    return replace(done, seconds=done.seconds - server_seconds / 2) if shared else done


def run(roots: Sequence[Path], rounds: int) -> float:
    """The ratio."""
    first, second = cores(2)
    third = sorted(os.sched_getaffinity(0))[2:3]
    alone, both = [], []
    print(HEADING)
    for _ in range(rounds):
        done, _ = measure(roots, 1, [second], [first])
        alone.append(done)
        print(row(f"one process, {done.pages:,} pages", done), flush=True)
        done, server_seconds = measure(roots, 2, [first, second], third or [first, second])
        print(row(f"two processes, {done.pages:,} pages", done), flush=True)
        both.append(without_server(done, server_seconds, shared=not third))
        print(row(f"the same without nginx's {server_seconds:.1f} s of processor", both[-1]), flush=True)
    return fastest(both).pages_per_second / fastest(alone).pages_per_second


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small site: for a look, not for a claim")
    parser.add_argument("--rounds", type=int, default=0, help="turns (2; quick: 1)")
    chosen = parser.parse_args()
    corpus = corpora.OTHERS[0] if chosen.quick else corpora.OPENJDK
    roots = [corpora.folder_of(corpus), corpora.marked_copy(corpus)]
    ratio = run(roots, chosen.rounds or (1 if chosen.quick else 2))
    print(verdict("two processes on two cores / one on one", ratio, TARGET))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
