"""Fifty bots, half of them badly behaved, while the database crashes and stops under them (PostgreSQL), or the server
is killed (SQLite). Afterwards a judge compares what the bots were told with what the database noted."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.bot_journal import Exchange, read_journals
from tests.faults.bot_judge import breaches
from tests.faults.bot_record import BotDatabase, Record, read_record
from tests.faults.own_postgres import OwnPostgres
from tests.faults.platform import PATIENCE_SECONDS, Platform, exists
from tests.plugin import ON_POSTGRES

pytestmark = pytest.mark.postgresql

ROOT = Path(__file__).resolve().parents[2]
PEOPLE = [sys.executable, "-m", "tests.faults.bot_people"]
BOTS, A_CROWD = 50, 10
# Two of the five processes kill themselves in the middle of a request, and are started again, so often.
DEATHS = 2
# How many results there are before the first disaster, between the two, and after them.
RESULTS = (80, 80, 120)
WELL = 100
REFUSALS = {"job_not_locked", "not_assigned", "lock_expired", "job_not_found", "validation_error"}
SEED = os.environ.get("BOT_FAULT_SEED", "5")


class Party:
    """The platform with its bots and meddlers."""

    def __init__(self, platform: Platform, folder: Path) -> None:
        self.platform, self.folder = platform, folder
        self.environment = os.environ | platform.settings
        self.database = BotDatabase(platform)
        self.journals = folder / "journals"
        self.journals.mkdir()
        self.outages: list[tuple[float, float]] = []
        self.crowds: dict[int, subprocess.Popen[bytes]] = {}
        self.deaths: Counter[int] = Counter()
        self.meddler: subprocess.Popen[bytes] | None = None
        self.chance = random.Random(SEED)
        self.is_over = False

    def begin(self) -> None:
        self.platform.up("--workers", "0")
        self.database.record_flights()
        made = subprocess.run(
            [*PEOPLE, "prepare", str(BOTS)], env=self.environment, cwd=ROOT, check=True, stdout=subprocess.PIPE
        )
        self.tokens = json.loads(made.stdout)
        self.meddler = subprocess.Popen(
            [*PEOPLE, "meddle", SEED], env=self.environment, cwd=ROOT, stdin=subprocess.PIPE
        )
        for number in range(BOTS // A_CROWD):
            self.start_crowd(number)

    def start_crowd(self, number: int) -> None:
        names = [f"bot{n}" for n in range(number * A_CROWD, (number + 1) * A_CROWD)]
        manners = ["good", "bad"] * (A_CROWD // 2)
        dies = number < 2 and self.deaths[number] < DEATHS
        plan = {
            "port": self.platform.port, "seed": SEED, "folder": str(self.journals),
            "bots": [[name, self.tokens[name], how] for name, how in zip(names, manners, strict=True)],
            "dies_after": self.chance.randint(40, 120) if dies else None,
        }  # fmt: skip
        path = self.folder / f"crowd{number}.json"
        path.write_text(json.dumps(plan))
        command = [sys.executable, "-m", "tests.faults.bot_crowd", str(path)]
        self.crowds[number] = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT)

    def tend(self) -> None:
        """Start again the crowds that killed themselves."""
        for number, crowd in self.crowds.items():
            if crowd.poll() is not None and not self.is_over:
                assert crowd.returncode == -signal.SIGKILL, "a bot found something that it does not understand"
                self.deaths[number] += 1
                close(crowd)
                self.start_crowd(number)

    def until(self, condition: Callable[[], bool], what: str, look_seconds: float = 0.1) -> None:
        deadline = time.monotonic() + 2 * PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"still not: {what}"
            self.tend()
            time.sleep(look_seconds)

    def until_more_results(self, count: int) -> None:
        wanted = self.results + count
        self.until(lambda: self.results >= wanted, f"{wanted} results, there are {self.results}")

    @property
    def results(self) -> int:
        return int(self.database.one("SELECT count(*) FROM crawl_results"))

    def answers_since(self, moment: float) -> list[int]:
        """Status codes, in the order in which they came."""
        since = [(e.answered_at, e.status) for e in read_journals(self.journals) if e.status and e.sent_at > moment]
        return [status for _, status in sorted(since)]

    def until_trouble(self, since: float) -> None:
        self.until(
            lambda: any(code >= 500 for code in self.answers_since(since)), "a bot hears that something is wrong"
        )

    def until_recovered(self, since: float) -> None:
        """As many good answers in a row as come from every connection of every process."""

        def is_well() -> bool:
            last = self.answers_since(since)[-WELL:]
            return len(last) == WELL and max(last) < 500

        self.until(is_well, "every request is answered again", 0.4)

    def end(self) -> Record:
        """Everybody goes home; what is still locked runs out."""
        self.until(lambda: sum(self.deaths.values()) == 2 * DEATHS, "every crowd that was to die has")
        assert self.meddler is not None
        self.is_over = True
        for guest in (*self.crowds.values(), self.meddler):
            close(guest)
            assert guest.wait(2 * PATIENCE_SECONDS) == 0
        locked = "SELECT count(*) FROM bot_jobs WHERE status = 'locked'"
        self.until(lambda: self.database.one(locked) == 0, "the scheduler ended all locks")
        return read_record(self.database, self.journals, self.outages)

    def close(self) -> None:
        for guest in (*self.crowds.values(), self.meddler):
            if guest is not None and guest.poll() is None:
                guest.kill()
                guest.wait()
                close(guest)


def close(guest: subprocess.Popen[bytes]) -> None:
    assert guest.stdin is not None
    guest.stdin.close()


@pytest.fixture
def postgres() -> Iterator[OwnPostgres | None]:
    started = OwnPostgres() if ON_POSTGRES else None
    yield started
    if started:
        started.services.stop()


@pytest.fixture
def party(platform: Platform, postgres: OwnPostgres | None, tmp_path: Path) -> Iterator[Party]:
    if postgres:
        platform.settings |= {"DATABASE_URL": postgres.services.postgres_url, "SERVER_PROCESSES": "2"}
    made = Party(platform, tmp_path)
    yield made
    made.close()


def restart(party: Party, postgres: OwnPostgres, how: signal.Signals) -> None:
    """The database goes and comes back; everybody finds out by themselves."""
    began = time.time()
    postgres.stop(how)
    party.until_trouble(began)
    postgres.start()
    party.until_recovered(time.time())
    party.outages.append((began, time.time()))


def kill_server(party: Party) -> None:
    listed = [process["pid"] for process in party.platform.processes() if process["kind"] == "server"]
    (pid,) = filter(exists, listed)
    killed = time.time()
    os.killpg(os.getpgid(pid), signal.SIGKILL)
    party.until_recovered(killed)


def test_fifty_bots_and_two_disasters(party: Party, postgres: OwnPostgres | None) -> None:
    party.begin()
    for how, count in zip((signal.SIGQUIT, signal.SIGINT), RESULTS, strict=False):
        party.until_more_results(count)
        if postgres:
            restart(party, postgres, how)
        else:
            kill_server(party)
    party.until_more_results(RESULTS[-1])
    party.until(lambda: is_eventful(read_journals(party.journals)), "every refusal was met", 0.4)
    record = party.end()
    found = breaches(record)
    assert not found, "\n".join([f"{len(found)} breaches with seed {SEED}:", *found[:20]])
    assert_eventful(record)
    if postgres:
        assert party.database.one("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


def is_eventful(exchanges: list[Exchange]) -> bool:
    """A quiet party would prove nothing."""
    refused = [one for one in exchanges if one.path == "submit" and one.was_answered and one.status not in (200, 201)]
    unanswered = sum(not exchange.was_answered for exchange in exchanges)
    codes = {one.answer["error"] for one in refused if isinstance(one.answer, dict)}
    return codes >= REFUSALS and unanswered > 50


def assert_eventful(record: Record) -> None:
    assert {event.status for event in record.events} == {"pending", "locked", "done", "failed", "expired"}
    assert len({event.url_hash for event in record.events}) < len({event.job_id for event in record.events})
