"""SIGTERM and SIGINT end a bot in good order. Only the main thread may say so; elsewhere nothing is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NUMBERS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[None]:
    """The first signal calls `stop`, so does the second; a third does what it did before us."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in NUMBERS}
    seen: list[int] = []

    def on_signal(number: int, frame: Any) -> None:
        seen.append(number)
        if len(seen) == 2:
            restore(before)
        stop()

    for number in NUMBERS:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        restore(before)


def restore(before: dict[signal.Signals, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
