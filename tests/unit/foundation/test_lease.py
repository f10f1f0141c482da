"""The lease against a model of it, on whichever database the run uses, with a clock that the test moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule, run_state_machine_as_test

from crawler.foundation import lease
from crawler.foundation.clock import Clock

pytestmark = pytest.mark.django_db

ROWS = 4
START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = "(SELECT now FROM lease_clock)"
CLOCKS = {
    "postgresql": Clock(now=NOW, now_exact=NOW, later=f"{NOW} + %s * interval '1 second'", epoch=""),
    "sqlite": Clock(
        now=NOW, now_exact=NOW, later=f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', {NOW}, %s || ' seconds')", epoch=""
    ),
}
TIME_TYPE = {"postgresql": "timestamptz", "sqlite": "text"}


@dataclass
class Row:
    """What the model knows of one row."""

    holder: str | None = None
    until: datetime | None = None
    fence: int = 0
    writes: int = 0


@dataclass
class Model:
    now: datetime = START
    rows: dict[int, Row] = field(default_factory=lambda: {key: Row() for key in range(ROWS)})

    def free(self, row: Row) -> bool:
        return row.holder is None or (row.until is not None and row.until <= self.now)

    def held(self, proof: lease.Lease) -> bool:
        row = self.rows[proof.key]
        mine = row.holder == proof.holder and row.fence == proof.fence
        return mine and row.until is not None and row.until > self.now


def text(moment: datetime) -> str | datetime:
    return moment if connection.vendor == "postgresql" else moment.strftime("%Y-%m-%d %H:%M:%S.000")


class LeaseMachine(RuleBasedStateMachine):
    """Claims, renewals, writes and ends by rivals who keep every proof they ever got, under a clock that jumps."""

    proofs = Bundle("proofs")

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.table = lease.LeaseTable("lease_rows", key="key", clock=CLOCKS[connection.vendor])
        with connection.cursor() as cursor:
            for name in ("lease_rows", "lease_clock"):
                cursor.execute(f"DROP TABLE IF EXISTS {name}")
            kind = TIME_TYPE[connection.vendor]
            cursor.execute(f"CREATE TABLE lease_clock (now {kind})")
            cursor.execute(
                "CREATE TABLE lease_rows (key integer PRIMARY KEY, claimed_by text,"
                f" claim_expires_at {kind}, version integer NOT NULL, writes integer NOT NULL)"
            )
            cursor.execute("INSERT INTO lease_clock VALUES (%s)", [text(START)])
            cursor.executemany("INSERT INTO lease_rows VALUES (%s, NULL, NULL, 0, 0)", [[key] for key in range(ROWS)])

    @rule(target=proofs, holder=st.sampled_from("abc"), seconds=st.integers(1, 60), limit=st.integers(1, ROWS))
    def claim(self, holder: str, seconds: int, limit: int) -> object:
        free = [key for key, row in self.model.rows.items() if self.model.free(row)]
        got = lease.claim(self.table, holder, seconds=seconds, limit=limit)
        assert sorted(proof.key for proof in got) == free[:limit], "the free rows in order, and no more than asked for"
        for proof in got:
            row = self.model.rows[proof.key]
            assert proof.fence == row.fence + 1, "every claim raises the fence"
            row.holder, row.fence = holder, proof.fence
            row.until = self.model.now + timedelta(seconds=seconds)
        return multiple(*got)

    @rule(proof=proofs, seconds=st.integers(1, 60))
    def renew(self, proof: lease.Lease, seconds: int) -> None:
        expected = [proof] if self.model.held(proof) else []
        assert lease.renew_many_if_held(self.table, [proof], seconds=seconds) == expected
        if expected:
            self.model.rows[proof.key].until = self.model.now + timedelta(seconds=seconds)

    @rule(proof=proofs)
    def write(self, proof: lease.Lease) -> None:
        held = self.model.held(proof)
        assert lease.change_if_held(self.table, proof, "writes = writes + 1") is held
        self.model.rows[proof.key].writes += held

    @rule(proof=proofs)
    def finish(self, proof: lease.Lease) -> None:
        """Also the late finish, the second finish and the finish after somebody else claimed."""
        held = self.model.held(proof)
        assert lease.finish_if_held(self.table, proof, "writes = writes + 1") is held
        if held:
            row = self.model.rows[proof.key]
            row.holder, row.until, row.writes = None, None, row.writes + 1

    @rule(proof=proofs, holder=st.sampled_from("abc"))
    def steal_with_an_old_fence(self, proof: lease.Lease, holder: str) -> None:
        """The fence of another claim opens nothing, whoever shows it."""
        forged = lease.Lease(proof.key, holder, proof.fence - 1)
        assert not lease.change_if_held(self.table, forged, "writes = writes + 1")

    @rule(seconds=st.integers(-90, 90))
    def move_clock(self, seconds: int) -> None:
        """Time passes, or the database's clock is set, forwards or back."""
        self.model.now += timedelta(seconds=seconds)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE lease_clock SET now = %s", [text(self.model.now)])

    @invariant()
    def rows_are_as_modelled(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT key, claimed_by, version, writes FROM lease_rows ORDER BY key")
            found = cursor.fetchall()
        assert found == [(key, row.holder, row.fence, row.writes) for key, row in self.model.rows.items()]


def test_lease_behaves_like_its_model() -> None:
    run_state_machine_as_test(
        LeaseMachine,
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
