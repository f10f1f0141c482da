"""What happens, told: to the log `crawler.bot`, and to whoever asked to be called."""

from __future__ import annotations

import logging
from collections.abc import Callable

from crawler.integrations.client.desk import Desk
from crawler.integrations.client.holding import Event

log = logging.getLogger("crawler.bot")
LEVELS = {"lost": logging.WARNING, "trouble": logging.WARNING, "stopping": logging.INFO, "recovered": logging.INFO}


class Teller:
    def __init__(self, on_event: Callable[[Event], None] | None) -> None:
        self.on_event = on_event

    def hush(self) -> None:
        """To the log only, from now on."""
        self.on_event = None

    def tell(self, desk: Desk) -> None:
        events, desk.events = desk.events, []
        for event in events:
            about = f" {event.job.url}" if event.job else ""
            log.log(
                LEVELS.get(event.kind, logging.DEBUG), "%s%s%s", event.kind, about, event.detail and f": {event.detail}"
            )
            if self.on_event:
                self.on_event(event)
