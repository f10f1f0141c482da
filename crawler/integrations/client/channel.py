"""One errand at a time, and the same one again, ever more slowly, until the server has answered it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crawler.integrations.client.errands import Errand

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.25, 15.0


@dataclass(slots=True)
class Channel:
    """`about` is what the errand was made of; `is_out` while nobody has answered it."""

    name: str
    errand: Errand | None = None
    about: Any = None
    is_out: bool = False
    failures: int = 0
    not_before: float = 0.0
    may_have_arrived: bool = False
    first_sent_at: float = 0.0
    sent_at: float = 0.0

    def is_free(self, now: float) -> bool:
        return self.errand is None and now >= self.not_before

    def put(self, errand: Errand, about: Any = None) -> None:
        self.errand, self.about = errand, about
        self.failures, self.may_have_arrived = 0, False

    def send(self, now: float) -> Errand | None:
        """The errand, when it is time to send it (again)."""
        if self.errand is None or self.is_out or now < self.not_before:
            return None
        if not self.failures:
            self.first_sent_at = now
        self.sent_at, self.is_out = now, True
        return self.errand

    def again(self, now: float, at_least_seconds: float | None, jitter: Callable[[], float]) -> float:
        """It has to be sent once more. The pause before that."""
        pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(self.failures, 16))
        pause = max(pause * (0.5 + jitter() / 2), at_least_seconds or 0)
        self.failures += 1
        self.is_out, self.not_before = False, now + pause
        return pause

    def clear(self) -> Any:
        """It is settled. What it was about."""
        about, self.errand, self.about, self.is_out, self.failures = self.about, None, None, False, 0
        return about

    @property
    def is_worth_repeating(self) -> bool:
        """Whether sending it again would show what the server did the first time."""
        return self.errand is not None and self.errand.key is not None and self.may_have_arrived

    def hurry(self) -> None:
        self.not_before = 0.0
