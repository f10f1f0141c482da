"""How many domains a worker claims at a time.

Alone it takes all there is. One of several begins with a single domain and takes more, in growing portions, only while
it spends its time waiting: a worker whose core is busy leaves the rest to the others.
"""

from __future__ import annotations

from time import monotonic
from typing import Final

GROWTH: Final = 4
HUNGRY_WHEN_WAITING: Final = 0.5  # of the time


class Appetite:
    def __init__(self, most: int, *, shares: bool) -> None:
        self._most = most
        self._shares = shares
        self._portion = 1 if shares else most
        self._waited = 0.0
        self._since = monotonic()

    def waited(self, seconds: float) -> None:
        self._waited += seconds

    def portion(self, held: int) -> int:
        """How many to claim now; `held` are claimed already."""
        if not self._shares:
            return self._most
        waited, since = self._waited, self._since
        self._waited, self._since = 0.0, monotonic()
        is_hungry = not held or waited > HUNGRY_WHEN_WAITING * (self._since - since)
        return self._portion if is_hungry else 0

    def got(self, count: int) -> None:
        if count >= self._portion:
            self._portion = min(self._portion * GROWTH, self._most)
