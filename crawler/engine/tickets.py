"""A request under way, and the visit that waits for it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from crawler.engine.site import Site
from crawler.fetch.outcome import Failure, Request, Response

Answer = Response | Failure


@dataclass(slots=True)
class Ticket:
    """`done` gets what the visit returns."""

    site: Site
    visit: Generator[Request, Answer, Any]
    done: Callable[[Site, Any], None]
    render: bool = False  # by the browser
