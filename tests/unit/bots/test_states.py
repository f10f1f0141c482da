from __future__ import annotations

from pathlib import Path

import pytest

from crawler.bots.diagram import page
from crawler.bots.states import ABANDONABLE, RESETTABLE, TRANSITIONS, JobState, may_become, next_retry

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "bot-job-states.md"


def test_the_page_is_drawn_from_the_table() -> None:
    assert PAGE.read_text() == page(), "run: python -m crawler.bots.diagram > docs/reference/bot-job-states.md"


def test_the_documented_transitions_are_there() -> None:
    documented = {"pending": {"locked"}, "locked": {"done", "pending", "failed", "expired"}, "expired": {"pending"}}
    for old, states in documented.items():
        assert all(may_become(old, new) for new in states)


def test_done_is_final() -> None:
    assert not [step for step in TRANSITIONS if step.old == JobState.DONE]
    assert JobState.DONE not in (*RESETTABLE, *ABANDONABLE)


@pytest.mark.parametrize(
    ("count", "most", "after"),
    [(0, 3, ("pending", 1)), (1, 3, ("pending", 2)), (2, 3, ("failed", 3)), (0, 1, ("failed", 1))],
)
def test_max_retries_counts_attempts(count: int, most: int, after: tuple[str, int]) -> None:
    assert next_retry(count, most) == after
