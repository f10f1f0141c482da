"""Conditions on the state of a job, written out: SQLite uses a partial index only for a condition that it can read, not
for a parameter whose value comes later."""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, F, Func, Q

from crawler.bots.states import CLOSED, JobState


class InStates(Func):
    output_field = BooleanField()

    def __init__(self, *expressions: Any, states: tuple[JobState, ...] = (), **extra: Any) -> None:
        super().__init__(*expressions, **extra)
        self.states = states

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> Any:
        column, params = compiler.compile(self.get_source_expressions()[0])
        names = [f"'{JobState(state).value}'" for state in self.states]
        return f"{column} = {names[0]}" if len(names) == 1 else f"{column} IN ({', '.join(names)})", params


def in_states(*states: JobState) -> Q:
    """As the indexes have it: one state, those that are open, closed or lost."""
    return Q(InStates(F("status"), states=states))


def in_state(name: str) -> Q:
    """One state; of a closed one also that it is, since the index is of all that are."""
    state = JobState(name)
    return in_states(state) & in_states(*CLOSED) if state in CLOSED else in_states(state)
