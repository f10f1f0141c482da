"""Signals end a bot, and are the program's own again afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from crawler.integrations.client.signals import stopping


@pytest.fixture
def own() -> Iterator[list[int]]:
    """The program's handler of SIGTERM: what it was called with."""
    heard: list[int] = []

    def handler(number: int, frame: Any) -> None:
        heard.append(number)

    before = signal.signal(signal.SIGTERM, handler)
    yield heard
    signal.signal(signal.SIGTERM, before)


def test_two_signals_are_ours_the_third_is_not(own: list[int]) -> None:
    stops: list[None] = []
    with stopping(lambda: stops.append(None)):
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert (len(stops), own) == (2, [])
        signal.raise_signal(signal.SIGTERM)
    assert (len(stops), own) == (2, [signal.SIGTERM])


def test_handlers_are_put_back(own: list[int]) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with stopping(lambda: None):
        assert signal.getsignal(signal.SIGTERM) is not before[0]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_other_threads_leave_signals_alone(own: list[int]) -> None:
    seen: list[bool] = []
    before = signal.getsignal(signal.SIGTERM)

    def run() -> None:
        with stopping(lambda: None):
            seen.append(signal.getsignal(signal.SIGTERM) is before)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [True]
