"""How long a page has had no request under way. A stream of events, which never ends, does not count."""

from __future__ import annotations

import asyncio
from time import monotonic

from playwright.async_api import Page, Request

ENDLESS = frozenset({"eventsource", "websocket", "ping"})


class Quiet:
    def __init__(self, page: Page) -> None:
        self.under_way: set[Request] = set()
        self.since = monotonic()
        self.nothing_under_way = asyncio.Event()
        self.nothing_under_way.set()
        page.on("request", self._begin)
        page.on("requestfinished", self._end)
        page.on("requestfailed", self._end)

    async def lasting(self, seconds: float) -> None:
        """Waits until it has been quiet for so long."""
        while True:
            await self.nothing_under_way.wait()
            left = self.since + seconds - monotonic()
            if left <= 0:
                return
            await asyncio.sleep(left)

    def _begin(self, request: Request) -> None:
        if request.resource_type not in ENDLESS:
            self.under_way.add(request)
            self.nothing_under_way.clear()

    def _end(self, request: Request) -> None:
        self.under_way.discard(request)
        self.since = monotonic()
        if not self.under_way:
            self.nothing_under_way.set()
