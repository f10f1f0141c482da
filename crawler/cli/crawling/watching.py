"""The thread that shows progress. It takes at most one part in a hundred of the processor, whatever it shows costs."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from crawler.cli.crawling.figures import Figures

SHORTEST_PAUSE_SECONDS = 0.25
LEAST_SHARE = 100
WINDOW_SECONDS = 5.0


@dataclass(slots=True)
class View:
    """What there is to see at a moment. `total` counts from the crawl's beginning, `run` since this command began."""

    title: str
    total: Figures
    run: Figures
    seconds: float
    rate_now: float
    rate_overall: float
    max_pages: int | None
    is_stopping: bool


class Screen(Protocol):
    def show(self, view: View) -> None: ...

    def close(self) -> None: ...


class Rate:
    """Pages a second over the last few seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def __call__(self, now: float, pages: int) -> float:
        self._seen.append((now, pages))
        while len(self._seen) > 2 and self._seen[1][0] < now - WINDOW_SECONDS:
            self._seen.popleft()
        then, before = self._seen[0]
        return (pages - before) / (now - then) if now > then else 0.0


class Watcher:
    """Use as a context; `look` is called in the thread."""

    def __init__(self, screen: Screen, look: Callable[[float], View]) -> None:
        self._screen = screen
        self._look = look
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(timeout=2)
        self._screen.close()

    def _watch(self) -> None:
        pause = SHORTEST_PAUSE_SECONDS
        while not self._ended.wait(pause):
            began = time.thread_time()
            self._screen.show(self._look(time.monotonic()))
            pause = max(SHORTEST_PAUSE_SECONDS, LEAST_SHARE * (time.thread_time() - began))
