"""Asked once (Ctrl-C, SIGTERM, a closed terminal): stop and save. Asked twice: leave at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SHOW_CURSOR = "\x1b[?25h"


class Stop:
    """`at_once` is called before we leave at once, to take others along."""

    def __init__(self) -> None:
        self.signal = 0
        self.at_once: Callable[[], None] = lambda: None

    def install(self) -> None:
        for number in SIGNALS:
            signal.signal(number, self._asked)

    def __call__(self) -> bool:
        return self.signal != 0

    @property
    def exit_code(self) -> int:
        """As shells have it: 130 after Ctrl-C, 143 after SIGTERM."""
        return 128 + self.signal

    def _asked(self, number: int, frame: FrameType | None) -> None:
        if self.signal:
            self.at_once()
            if sys.stderr.isatty():
                os.write(2, SHOW_CURSOR.encode())
            os.write(2, b"\ncrawler: asked twice; leaving at once. The same command resumes.\n")
            os._exit(128 + number)
        self.signal = number
