"""How the worker behaves towards the web."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from crawler.engine.contract import CrawlRules
from crawler.fetch.politeness import Rules

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Manners:
    user_agent: str
    allowed_networks: tuple[Network, ...] = ()  # private ones that may be reached
    delay_seconds: float = 1.0  # between two requests to a host, unless robots.txt asks for more
    timeout_seconds: float = 30.0  # for one request
    max_body_bytes: int = 10 * 1024 * 1024
    max_redirects: int = 5
    per_address: int = 8  # requests at once to one IP address, whatever names it has
    worth_waiting_seconds: float = 60.0  # for a host that pushed us back; then its jobs fail, with the reason

    @property
    def politeness(self) -> Rules:
        """Answers that take long make no longer delays: the server hands out no more than a host may be asked for."""
        return Rules(delay_seconds=self.delay_seconds, per_address=self.per_address, adaptive=False)

    @property
    def for_robots(self) -> CrawlRules:
        """As the engine's reader of robots.txt wants them."""
        return CrawlRules(id=0, run_id="", user_agent=self.user_agent)
