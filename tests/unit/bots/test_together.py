"""Answers that come together are written together, and each gets its own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest
from django.db import DataError, OperationalError

from crawler.bots.actions.together import MOST_ROWS, SLOW_SECONDS, Row, Together

PATIENCE_SECONDS = 20


class Table:
    """Stands for the database: each statement waits until it is let go, unless `open` is set."""

    def __init__(self) -> None:
        self.statements: list[list[Row]] = []
        self.began = threading.Semaphore(0)
        self.open = threading.Event()
        self.refuses: dict[object, Exception] = {}

    def write(self, rows: Sequence[Row]) -> list[Row]:
        self.statements.append(list(rows))
        self.began.release()
        assert self.open.wait(PATIENCE_SECONDS)
        for row in rows:
            if row[0] in self.refuses:
                raise self.refuses[row[0]]
        return [("written", row[0]) for row in rows]


class Crowd:
    """Requests, one a thread, in the order in which they were sent."""

    def __init__(self) -> None:
        self.table = Table()
        self.now = 100.0
        self.together = Together(self.table.write, lambda: self.now)
        self.threads = ThreadPoolExecutor(40)

    def send(self, *names: str, key: UUID | None = None) -> Future[list[Row]]:
        keys = frozenset({key} if key else {uuid4() for _ in names})
        before = self.rows_arrived()
        sent = self.threads.submit(self.together.write, keys, [(name,) for name in names])
        while self.rows_arrived() <= before:
            pass
        return sent

    def rows_arrived(self) -> int:
        """Written or waiting. Less for a moment, while they go from one to the other."""
        written = sum(len(rows) for rows in list(self.table.statements))
        return written + sum(len(share.rows) for share in list(self.together._queue))

    def send_a_writer(self) -> Future[list[Row]]:
        """It is at its statement when this returns."""
        sent = self.send("first")
        assert self.table.began.acquire(timeout=PATIENCE_SECONDS)
        return sent


@pytest.fixture
def crowd() -> Crowd:
    return Crowd()


def result(sent: Future[list[Row]]) -> list[Row]:
    return sent.result(PATIENCE_SECONDS)


def test_who_comes_alone_is_written_at_once(crowd: Crowd) -> None:
    crowd.table.open.set()
    assert result(crowd.send("a", "b")) == [("written", "a"), ("written", "b")]
    assert result(crowd.send("c")) == [("written", "c")]
    assert crowd.table.statements == [[("a",), ("b",)], [("c",)]]


def test_who_comes_meanwhile_is_written_together_and_gets_its_own(crowd: Crowd) -> None:
    first = crowd.send_a_writer()
    others = [crowd.send(f"other {number}", f"second {number}") for number in range(5)]
    crowd.table.open.set()
    assert result(first) == [("written", "first")]
    for number, one in enumerate(others):
        assert result(one) == [("written", f"other {number}"), ("written", f"second {number}")]
    assert len(crowd.table.statements) == 2
    assert len(crowd.table.statements[-1]) == 10


def test_one_job_is_never_twice_in_a_statement(crowd: Crowd) -> None:
    first, key = crowd.send_a_writer(), uuid4()
    twice = [crowd.send("once", key=key), crowd.send("another"), crowd.send("again", key=key)]
    crowd.table.open.set()
    assert [result(one)[0][1] for one in [first, *twice]] == ["first", "once", "another", "again"]
    together = next(rows for rows in crowd.table.statements if ("once",) in rows)
    assert together == [("once",), ("another",)]


def test_a_statement_has_a_size(crowd: Crowd) -> None:
    crowd.send_a_writer()
    large = [crowd.send(*[f"{number}"] * MOST_ROWS) for number in range(2)]
    crowd.table.open.set()
    assert [len(result(one)) for one in large] == [MOST_ROWS, MOST_ROWS]
    assert max(len(rows) for rows in crowd.table.statements) == MOST_ROWS


def test_what_the_database_refuses_harms_only_who_brought_it(crowd: Crowd) -> None:
    crowd.table.refuses["bad"] = DataError("no")
    crowd.send_a_writer()
    good, bad, late = crowd.send("good"), crowd.send("bad"), crowd.send("late")
    crowd.table.open.set()
    assert (result(good), result(late)) == ([("written", "good")], [("written", "late")])
    with pytest.raises(DataError):
        result(bad)


def test_when_the_database_is_lost_all_are_told_and_the_next_is_written(crowd: Crowd) -> None:
    crowd.table.refuses["bad"] = OperationalError("gone")
    crowd.send_a_writer()
    lost = [crowd.send("good"), crowd.send("bad")]
    crowd.table.open.set()
    for one in lost:
        with pytest.raises(OperationalError):
            result(one)
    assert [rows for rows in crowd.table.statements if ("good",) in rows] == [[("good",), ("bad",)]], "not tried again"
    assert result(crowd.send("next")) == [("written", "next")]


def test_a_refused_one_alone_is_told_so(crowd: Crowd) -> None:
    crowd.table.open.set()
    crowd.table.refuses["bad"] = DataError("no")
    with pytest.raises(DataError):
        result(crowd.send("bad"))
    assert len(crowd.table.statements) == 1


def test_a_writer_that_takes_long_does_not_hold_up_everybody(crowd: Crowd) -> None:
    slow = crowd.send_a_writer()
    waiting = crowd.send("waiting")
    assert len(crowd.table.statements) == 1
    crowd.now += SLOW_SECONDS * 2
    crowd.send("rescuer")
    assert crowd.table.began.acquire(timeout=PATIENCE_SECONDS), "another statement, beside the slow one"
    assert crowd.table.statements[1] == [("waiting",), ("rescuer",)]
    crowd.table.open.set()
    assert (result(slow), result(waiting)) == ([("written", "first")], [("written", "waiting")])
