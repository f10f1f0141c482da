"""How much a worker takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a worker takes on, and how often it looks up."""

    sites: int = 2500
    claims_at_once: int = 500
    urls_in_memory: int = 20_000
    batch_pages: int = 200
    batch_seconds: float = 1.0
    waited_for_seconds: float = 0.1  # a batch that a site waits for is committed so soon
    control_seconds: float = 1.0
    renew_seconds: float = 600.0
    in_flight: int = 1000
    unread_answers: int = 500  # nothing more is asked for while so many wait to be read
    shares: bool = False  # with other workers: claims domains by and by
    worth_waiting_seconds: float = 60.0  # for a URL that is due later, before its domain is given back
    stop_seconds: float = 5.0  # for answers under way when asked to stop
    full_disk_seconds: float = 5.0
