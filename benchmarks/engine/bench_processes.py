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
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import corpora
from benchmarks.engine.completeness import database_in
from benchmarks.engine.crawls import Crawled, crawl, scratch_folder
from benchmarks.engine.processes import cores
from benchmarks.engine.verdicts import HEADING, fastest, row, verdict
from benchmarks.engine.webserver import serve_sites

TARGET = 1.7
LOGGED_SECONDS = "SELECT (julianday(max(crawled_at)) - julianday(min(crawled_at))) * 86400 FROM crawl_log"
TWICE = "SELECT count(*) FROM (SELECT 1 FROM crawl_log GROUP BY url_hash HAVING count(*) > 1)"


@dataclass(frozen=True, slots=True)
class Measured:
    """A crawl by its own log, what nginx used for it, and what is wrong with it."""

    done: Crawled
    server_seconds: float
    wrong: str


def measure(roots: Sequence[Path], processes: int, on: Sequence[int], server_on: Sequence[int]) -> Measured:
    with serve_sites(roots, server_on) as (server, ports), scratch_folder() as out:
        urls = [f"http://127.0.0.1:{port}/index.html" for port in ports]
        done = crawl(urls, out, on, "--processes", str(processes))
        used = server.cpu_seconds()
        with closing(sqlite3.connect(database_in(out))) as database:
            (seconds,) = database.execute(LOGGED_SECONDS).fetchone()
            wrong = faults(database, processes)
    others = done.others_seconds - (used if set(on) & set(server_on) else 0.0)
    return Measured(replace(done, seconds=seconds, others_seconds=max(0.0, others) / len(on)), used, wrong)


def faults(database: sqlite3.Connection, processes: int) -> str:
    """Every process did its part, and nothing was done twice."""
    (twice,) = database.execute(TWICE).fetchone()
    # Each worker writes files of its own, with its process's number in their names.
    shares = Counter(path.split("-")[2] for (path,) in database.execute("SELECT storage_path FROM crawled_documents"))
    if len(shares) != processes:
        return f"{len(shares)} of {processes} processes fetched anything"
    return f"{twice} URLs were asked for twice" if twice else ""


def run(roots: Sequence[Path], rounds: int) -> int:
    """How many rounds went wrong."""
    first, second = cores(2)
    third = sorted(os.sched_getaffinity(0))[2:3]
    alone, both, wrong = [], [], 0
    print(HEADING)
    for _ in range(rounds):
        one = measure(roots, 1, [second], [first])
        print(row(f"one process, {one.done.pages:,} pages", one.done), flush=True)
        two = measure(roots, 2, [first, second], third or [first, second])
        print(row(f"two processes, {two.done.pages:,} pages", two.done), flush=True)
        excluded = 0.0 if third else two.server_seconds / 2
        alone.append(one.done)
        both.append(replace(two.done, seconds=two.done.seconds - excluded))
        print(row(f"the same without nginx's {two.server_seconds:.1f} s of processor", both[-1]), flush=True)
        for fault in filter(None, (one.wrong, two.wrong)):
            wrong += 1
            print(f"  WRONG {fault}", flush=True)
    best = fastest(both), fastest(alone)
    ratio = best[0].pages_per_second / best[1].pages_per_second
    print(verdict("two processes on two cores / one on one", ratio, TARGET, of=best))
    if wrong:
        print("and it does not count: see WRONG above")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small site: for a look, not for a claim")
    parser.add_argument("--rounds", type=int, default=0, help="turns (2; quick: 1)")
    chosen = parser.parse_args()
    corpus = corpora.OTHERS[0] if chosen.quick else corpora.OPENJDK
    roots = [corpora.folder_of(corpus), corpora.marked_copy(corpus)]
    return int(run(roots, chosen.rounds or (1 if chosen.quick else 2)) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
