"""Bots at the real server beside Procrastinate, and the claim beside the bare SQL, on one PostgreSQL.

    python -m benchmarks.bots.bench_bots [--quick] [--jobs N] [--bots N] [--seconds S] [--rounds N]

The PostgreSQL is our own, with its defaults: every commit is on the disk before it is answered. A million pending jobs
of a thousand hosts wait in it, and as many in Procrastinate's tables. Everything takes turns, several rounds of it,
and medians are compared:

- pull(10) and the answers, one by one or as a batch, through HTTP: `crawler serve` with two processes, bots in one
  of their own that sends requests and does nothing else;
- Procrastinate: its worker with tasks that do nothing, and its job manager's fetch and finish without the worker around
  them; each with several degrees of concurrency, of which the best counts;
- our claim statement and a bare `UPDATE … SKIP LOCKED` in pgbench, ten jobs each time.
"""

import argparse
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.bots import claims, filling, peer, server
from benchmarks.bots.postgres import Postgres, private_postgres, stop_on_sigterm

TARGET_PEER, TARGET_CLAIM, TARGET_TAIL = 3.0, 0.6, 3.0
CLAIM_CLIENTS = 10
QUIET_LOAD = 0.7


@dataclass
class Rounds:
    """Figures by name, one a round."""

    figures: dict[str, list[float]] = field(default_factory=dict)
    served: list[server.Served] = field(default_factory=list)
    wrong: int = 0
    busy_with: float = 0.0  # the machine's load before we began

    def add(self, name: str, figure: float, unit: str = "jobs/s") -> None:
        self.figures.setdefault(name, []).append(figure)
        print(f"  {figure:10,.0f} {unit}  {name}", flush=True)

    def median(self, name: str) -> float:
        return statistics.median(self.figures[name])

    def verdict(self, name: str, value: float, target: float, at_most: bool = False) -> str:
        met, sign = (value <= target, "at most") if at_most else (value >= target, "at least")
        decided = "met" if met else "MISSED"
        if self.busy_with > QUIET_LOAD:
            decided = f"UNDECIDED ({decided}), the machine's load was {self.busy_with:.1f} before we began"
        return f"{name}: {value:.2f}x  target {sign} {target:g}x: {decided}"

    def best(self, prefix: str) -> tuple[str, float]:
        """The one of these whose median is the highest."""
        names = [name for name in self.figures if name.startswith(prefix)]
        return max(((name, self.median(name)) for name in names), key=lambda one: one[1])


@dataclass(frozen=True)
class Bench:
    postgres: Postgres
    jobs: int
    bots: int
    seconds: float
    rounds: Rounds

    def prepare(self) -> None:
        print(f"filling: {self.jobs:,} jobs of {filling.HOSTS:,} hosts, as many for Procrastinate", flush=True)
        filling.fill(self.postgres, "filled", self.jobs, max(self.bots, CLAIM_CLIENTS))
        peer.fill(self.postgres, "procrastinate_filled", self.jobs)

    @contextmanager
    def copy(self, template: str) -> Iterator[str]:
        """The same state for everybody: a database of its own, as it was filled."""
        self.postgres.create("turn", template)
        self.postgres.settle()
        yield "turn"
        self.postgres.execute("postgres", 'DROP DATABASE "turn" WITH (FORCE)')

    def round(self) -> None:
        self.claim()
        self.http()
        self.procrastinate()

    def claim(self) -> None:
        with self.copy("filled") as database:
            bare = self.postgres.bench(database, claims.BARE, CLAIM_CLIENTS, self.seconds)
        with self.copy("filled") as database:
            script = claims.ours(self.postgres.url(database), CLAIM_CLIENTS, bare.per_second)
            ours = self.postgres.bench(database, script, CLAIM_CLIENTS, self.seconds)
        self.rounds.add("claim, bare SQL", bare.per_second, "claims/s")
        self.rounds.add("claim, ours", ours.per_second, "claims/s")

    def http(self) -> None:
        with self.copy("filled") as database, server.serving(self.postgres.url(database)) as port:
            accepted = server.drive(port, self.bots, 1, "batch").accepted  # until all is warm
            for bots, way in ((1, "single"), (1, "batch"), (self.bots, "single"), (self.bots, "batch")):
                done = server.drive(port, bots, self.seconds, way)
                accepted += done.accepted
                self.rounds.add(f"HTTP, {bots} bots, {way}", done.jobs_per_second)
                if bots == self.bots:
                    self.rounds.served.append(done)
                    print(f"{'':20}{tail(done)}", flush=True)
            self.check(database, accepted)

    def check(self, database: str, accepted: int) -> None:
        """Every answer that was accepted is there, and none else."""
        done = self.postgres.value(database, "SELECT count(*) FROM bot_jobs WHERE status = 'done'")
        results = self.postgres.value(database, "SELECT count(*) FROM crawl_results")
        if not accepted == done == results:
            self.rounds.wrong += 1
            print(f"  WRONG {accepted:,} answers accepted, {done:,} jobs done, {results:,} results", flush=True)

    def procrastinate(self) -> None:
        for way, concurrency, processes in peer.WAYS:
            with self.copy("procrastinate_filled") as database:
                rate = peer.drive(self.postgres.url(database), way, concurrency, processes, self.seconds)
            self.rounds.add(f"Procrastinate, {way}, {concurrency} at once, {processes} processes", rate)


def tail(done: server.Served) -> str:
    middle, late, last = (done.pull_at(share) * 1000 for share in (0.5, 0.95, 0.99))
    return f"pull: median {middle:.1f} ms, p95 {late:.1f} ms, p99 {last:.1f} ms, {last / middle:.2f} x the median"


def report(rounds: Rounds, bots: int) -> None:
    worker, worker_rate = rounds.best("Procrastinate, worker")
    best, best_rate = rounds.best("Procrastinate, ")
    print(f"\nProcrastinate's best: {best_rate:,.0f} jobs/s ({best}); its worker's: {worker_rate:,.0f} ({worker})")
    for way in ("batch", "single"):
        name, rate = rounds.best(f"HTTP, {bots} bots, {way}")
        print(f"{name}: {rate:,.0f} jobs/s, {rate / worker_rate:.2f} x Procrastinate's worker")
        name = f"pull(10) + submit ({way}) / Procrastinate's fetch + finish"
        print(
            rounds.verdict(name, rate / best_rate, TARGET_PEER)
            if way == "batch"
            else one_by_one(name, rate / best_rate)
        )
    claim = rounds.median("claim, ours") / rounds.median("claim, bare SQL")
    print(rounds.verdict("claim / bare SQL", claim, TARGET_CLAIM))
    tails = statistics.median(done.pull_at(0.99) / done.pull_median for done in rounds.served)
    print(rounds.verdict(f"pull p99 / median, {bots} bots", tails, TARGET_TAIL, at_most=True))


def one_by_one(name: str, ratio: float) -> str:
    """Who sends a request a job pays for HTTP as often. The target is for bots that answer at once what they pulled."""
    return f"{name}: {ratio:.2f}x  no target"


def sqlite(seconds: float) -> None:
    """For comparison, without a target: one file, one process."""
    with filling.sqlite_platform() as url, server.serving(url, SERVER_PROCESSES="1") as port:
        for way in ("single", "batch"):
            done = server.drive(port, 10, seconds, way)
            print(
                f"  {done.jobs_per_second:10,.0f} jobs/s  SQLite, {filling.SQLITE_JOBS:,} jobs, 10 bots, {way}",
                flush=True,
            )


def arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few jobs, one round: for a look, not for a claim")
    parser.add_argument("--jobs", type=int, default=0, help="pending jobs (1,000,000; quick: 50,000)")
    parser.add_argument("--bots", type=int, default=50, help="bots at once")
    parser.add_argument("--seconds", type=float, default=0, help="each turn (4; quick: 2)")
    parser.add_argument("--rounds", type=int, default=0, help="turns of everything (3; quick: 1)")
    chosen = parser.parse_args(given)
    chosen.jobs = chosen.jobs or (50_000 if chosen.quick else 1_000_000)
    chosen.seconds = chosen.seconds or (2 if chosen.quick else 4)
    chosen.rounds = chosen.rounds or (1 if chosen.quick else 3)
    return chosen


def main() -> int:
    chosen, rounds = arguments(sys.argv[1:]), Rounds(busy_with=os.getloadavg()[0])
    stop_on_sigterm()
    if rounds.busy_with > QUIET_LOAD:
        print(f"NOTE: the machine is not quiet (load {rounds.busy_with:.1f}); do not trust these figures", flush=True)
    with private_postgres() as postgres:
        bench = Bench(postgres, chosen.jobs, chosen.bots, chosen.seconds, rounds)
        bench.prepare()
        for number in range(chosen.rounds):
            print(f"round {number + 1} of {chosen.rounds}", flush=True)
            bench.round()
    sqlite(chosen.seconds)
    report(rounds, chosen.bots)
    return int(rounds.wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
