"""Politeness without a clock: every moment is given."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.politeness import (
    MAX_RETRY_AFTER_SECONDS,
    AddressLimit,
    HostClock,
    Rules,
    SavedClock,
)

PLAIN = Rules(delay_seconds=1.0, adaptive=False)


def clock_of(rules: Rules = PLAIN) -> HostClock:
    return HostClock("example.org", rules)


def ended(clock: HostClock, now: float, seconds: float = 0.0, **outcome: float | bool | None) -> float:
    """How long the host is left alone after one more request that ends now."""
    clock.began(now - seconds)
    clock.ended(now, seconds, **outcome)  # type: ignore[arg-type]  # the test's own shorthand
    return clock.ready_at - now


def test_a_new_host_is_ready() -> None:
    assert clock_of().ready_at == 0


def test_a_host_with_a_request_in_flight_is_not_ready() -> None:
    clock = clock_of()
    clock.began(100)
    assert clock.ready_at == math.inf


def test_the_delay_counts_from_the_end() -> None:
    clock = clock_of()
    clock.began(100)
    clock.ended(105, 5, 200)
    assert clock.ready_at == 106


def test_several_in_flight_still_keep_their_distance() -> None:
    clock = clock_of(Rules(delay_seconds=1.0, adaptive=False, per_host=2))
    clock.began(100)
    assert clock.ready_at == 101
    clock.began(101)
    assert clock.ready_at == math.inf
    clock.ended(101.5, 1.5, 200)
    assert clock.ready_at == 102.5


def test_without_delay_nothing_waits() -> None:
    clock = clock_of(Rules(delay_seconds=0))
    assert ended(clock, 100, seconds=2, status=200) == 0


def test_crawl_delay_is_the_least_and_at_most_five_minutes() -> None:
    clock = clock_of()
    clock.crawl_delay_seconds = 10
    assert ended(clock, 100) == 10
    clock.crawl_delay_seconds = 0.5
    assert ended(clock, 200) == 1
    clock.crawl_delay_seconds = 86_400
    assert ended(clock, 300) == 300


@pytest.mark.parametrize(
    ("seconds", "wait"),
    [(0.1, 1.0), (0.5, 2.5), (2.0, 10.0), (10.0, 20.0)],
)
def test_slow_servers_are_asked_less_often(seconds: float, wait: float) -> None:
    clock = clock_of(Rules(delay_seconds=1.0, adaptive_max_seconds=20.0))
    assert ended(clock, 100, seconds) == pytest.approx(wait)


def test_adaptive_delay_can_be_asked_for_without_a_fixed_one() -> None:
    clock = clock_of(Rules(delay_seconds=0, adaptive=True, adaptive_min_seconds=0.25))
    assert ended(clock, 100, seconds=0.01) == 0.25
    assert ended(clock, 200, seconds=0.2) == pytest.approx(1.0)


def test_retry_after_is_obeyed_up_to_six_hours() -> None:
    clock = clock_of()
    assert ended(clock, 100, status=503, retry_after_seconds=120) == 120
    assert ended(clock, 1000, status=503, retry_after_seconds=999_999_999) == MAX_RETRY_AFTER_SECONDS
    assert MAX_RETRY_AFTER_SECONDS == 6 * 3600


@pytest.mark.parametrize("status", [429, 503])
def test_being_pushed_back_doubles_the_wait(status: int) -> None:
    clock = clock_of()
    waits = [ended(clock, 10_000.0 * number, status=status) for number in range(1, 13)]
    assert waits[:4] == [5, 10, 20, 40]
    assert waits[-1] == 3600


def test_network_failures_double_the_wait_too() -> None:
    clock = clock_of()
    assert [ended(clock, 10_000.0 * number, failed=True) for number in range(1, 5)] == [1, 2, 4, 8]


def test_every_good_answer_takes_one_step_back() -> None:
    clock = clock_of()
    for number in range(1, 4):
        ended(clock, 1000.0 * number, status=429)
    assert clock.backoff_level == 3
    assert ended(clock, 9000, status=200) == 1
    assert clock.backoff_level == 2
    assert ended(clock, 9500, status=429) == 20


def test_other_errors_do_not_slow_a_host() -> None:
    clock = clock_of()
    for number, status in enumerate((404, 403, 500, 301), 1):
        assert ended(clock, 1000.0 * number, status=status) == 1
    assert clock.backoff_level == 0


def test_a_storm_of_429_slows_the_host_and_loses_nothing() -> None:
    """Every third request is pushed back with Retry-After: 1; each is made again until it succeeds."""
    clock, now, requests = clock_of(), 0.0, 0
    for _ in range(20):
        status = None
        while status != 200:
            now = max(now, clock.ready_at)
            requests += 1
            status = 429 if requests % 3 == 0 else 200
            clock.began(now)
            clock.ended(now, 0.0, status, 1.0 if status == 429 else None)
    assert requests == 29
    assert clock.backoff_level <= 1


def test_state_survives_a_restart() -> None:
    clock = clock_of()
    ended(clock, 100, status=503, retry_after_seconds=500)
    saved = clock.saved()
    assert saved == SavedClock(600, 1)
    after = clock_of()
    after.restore(saved, now=200)
    assert (after.ready_at, after.backoff_level) == (600, 1)


def test_a_crash_may_have_hidden_the_last_request() -> None:
    clock = clock_of()
    clock.restore(SavedClock(100, 0), now=5000)
    assert clock.ready_at == 5001


def test_a_time_beyond_all_waits_is_not_believed() -> None:
    clock = clock_of()
    clock.restore(SavedClock(1e12, 10**9), now=100)
    assert clock.ready_at == 100 + MAX_RETRY_AFTER_SECONDS
    assert ended(clock, 1e6, failed=True) == 3600


outcomes = st.tuples(
    st.floats(0, 100),  # how long the loop dawdled
    st.floats(0, 60),  # how long the answer took
    st.sampled_from([200, 301, 404, 429, 503, None]),
    st.none() | st.floats(0, 1e9),
)


@given(st.lists(outcomes, max_size=30), st.floats(0, 10), st.floats(0, 1e6), st.booleans())
def test_no_two_requests_are_closer_than_the_delay(
    history: list[tuple[float, float, int | None, float | None]], delay: float, crawl_delay: float, adaptive: bool
) -> None:
    clock = clock_of(Rules(delay_seconds=delay, adaptive=adaptive))
    clock.crawl_delay_seconds = crawl_delay
    least, last_end = max(delay, min(crawl_delay, 300.0)), None
    for dawdled, seconds, status, retry_after in history:
        start = max(clock.ready_at, (last_end or 0.0)) + dawdled
        assert last_end is None or start - last_end >= least * (1 - 1e-9) - 1e-6
        clock.began(start)
        last_end = start + seconds
        clock.ended(last_end, seconds, status, retry_after, failed=status is None)
        assert clock.ready_at - last_end <= max(MAX_RETRY_AFTER_SECONDS, 3600, least) + 1e-3


# Addresses.


def test_no_more_than_the_limit_and_first_come_first_served() -> None:
    limit: AddressLimit[str] = AddressLimit(2)
    assert [limit.admit("192.0.2.1", name) for name in "abcd"] == [True, True, False, False]
    assert limit.admit("192.0.2.2", "e")
    assert [limit.leave("192.0.2.1") for _ in range(4)] == ["c", "d", None, None]
    assert limit.leave("192.0.2.2") is None
    assert (limit.in_flight, limit.waiting) == ({}, {})


@given(st.lists(st.sampled_from(["in", "out"]), max_size=60), st.integers(1, 4))
def test_the_limit_holds(steps: list[str], most: int) -> None:
    limit: AddressLimit[int] = AddressLimit(most)
    running, waiting = 0, 0
    for number, step in enumerate(steps):
        if step == "in":
            if limit.admit("192.0.2.1", number):
                running += 1
            else:
                waiting += 1
        elif running:
            if limit.leave("192.0.2.1") is None:
                running -= 1
            else:
                waiting -= 1
        assert running <= most
        assert not waiting or running == most
