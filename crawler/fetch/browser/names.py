"""The resolver of all fetches, for code that awaits: a name becomes judged addresses, or a failure."""

from __future__ import annotations

import asyncio

from crawler.fetch.guard import Guard
from crawler.fetch.outcome import Failure
from crawler.fetch.resolver import Resolved, Resolver


class Names:
    """Belongs to the running loop."""

    def __init__(self, guard: Guard) -> None:
        self.resolver = Resolver(guard)
        self.waiting: dict[str, list[asyncio.Future[None]]] = {}
        self.loop = asyncio.get_running_loop()
        self.loop.add_reader(self.resolver.fileno(), self._take)

    async def resolve(self, host: str) -> Resolved | Failure:
        while (known := self.resolver.remembered(host)) is None:
            await self._answer(host)
        return known

    async def _answer(self, host: str) -> None:
        answered: asyncio.Future[None] = self.loop.create_future()
        self.waiting.setdefault(host, []).append(answered)
        self.resolver.ask(host)
        # A look-up that takes too long is given up by whoever takes answers.
        self.loop.call_later(self.resolver.lookup_seconds + 0.1, self._take)
        await answered

    def _take(self) -> None:
        for host in self.resolver.answered():
            for answered in self.waiting.pop(host, ()):
                if not answered.done():
                    answered.set_result(None)

    def close(self) -> None:
        self.loop.remove_reader(self.resolver.fileno())
        self.resolver.close()
