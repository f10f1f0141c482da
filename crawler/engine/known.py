"""URLs whose number in the frontier is known, so that a link met again costs one look into a dictionary.

Exact: only what was committed is in it. Bounded: what was not met for a long time is forgotten and asked for again,
in the batch. A number below zero is a URL that was refused for the link's sake (depth, nofollow): a better link to it
has to be judged anew.
"""

from __future__ import annotations

from typing import Final

REMEMBERED_URLS: Final = 400_000


class KnownUrls:
    """Two generations: when the young one is full it becomes the old one, and the old one is forgotten."""

    __slots__ = ("_limit", "old", "young")

    def __init__(self, limit: int = REMEMBERED_URLS) -> None:
        self._limit = limit // 2
        self.young: dict[str, int] = {}
        self.old: dict[str, int] = {}

    def get(self, url: str) -> int | None:
        number = self.young.get(url)
        if number is None and (number := self.old.get(url)) is not None:
            self.remember(url, number)
        return number

    def remember(self, url: str, number: int) -> None:
        if len(self.young) >= self._limit:
            self.old, self.young = self.young, {}
        self.young[url] = number
