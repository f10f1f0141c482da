"""What workers report while they work: small values that can be added up and sent through a pipe."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from math import inf
from typing import Any, NamedTuple

from crawler.engine.progress import Progress, SiteProgress
from crawler.engine.worker import Worker

SITES_SHOWN = 12
PARKED_SHOWN = 20


class SiteRow(NamedTuple):
    """A domain in work; `next` says when it is asked again, or that it is no longer worked on."""

    domain: str
    pages: int
    failed: int
    refused: int
    bytes: int
    next: str


@dataclass(slots=True)
class Figures:
    """Counts since the start of whoever counts."""

    pages: int = 0
    failed: int = 0
    refused: int = 0
    redirects: int = 0
    bytes: int = 0
    queued: int = 0  # of the whole crawl: everybody sees the same
    domains: int = 0  # that something was fetched from
    paused: str = ""
    sites: list[SiteRow] = field(default_factory=list)  # the busiest
    parked: dict[str, str] = field(default_factory=dict)  # some of those left alone, and why
    parked_count: int = 0


def to_line(figures: Figures) -> bytes:
    return json.dumps(astuple(figures)).encode() + b"\n"


def of_line(line: bytes) -> Figures:
    values: list[Any] = json.loads(line)
    figures = Figures(*values)
    figures.sites = [SiteRow(*row) for row in figures.sites]
    return figures


def sum_of(parts: Iterable[Figures]) -> Figures:
    total = Figures()
    for part in parts:
        for name in ("pages", "failed", "refused", "redirects", "bytes", "domains", "parked_count"):
            setattr(total, name, getattr(total, name) + getattr(part, name))
        total.queued = max(total.queued, part.queued)
        total.paused = total.paused or part.paused
        total.sites += part.sites
        total.parked |= part.parked
    total.sites = heapq.nlargest(SITES_SHOWN, total.sites, key=_activity)
    return total


def _activity(row: SiteRow) -> tuple[bool, int]:
    return row.next != "-", row.pages + row.failed + row.refused


class Eye:
    """Looks at a worker from another thread. It only reads, and single values at that, so nothing has to be locked."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.worker: Worker | None = None

    def look_at(self, worker: Worker) -> None:
        self.worker = worker

    def figures(self) -> Figures:
        seen = self.progress
        parked = dict(list(seen.parked.items())[-PARKED_SHOWN:])
        return Figures(
            seen.pages, seen.failed, seen.refused, seen.redirects, seen.bytes, seen.queued, len(seen.sites),
            seen.paused, self._sites(), parked, len(seen.parked),
        )  # fmt: skip

    def _sites(self) -> list[SiteRow]:
        """Domains in work come before domains that are done; among them the busiest first."""
        held = self.worker.sites if self.worker else {}
        # list() of a dictionary is one step for the interpreter: the worker cannot add to it meanwhile.
        items = list(self.progress.sites.items())
        busiest = heapq.nlargest(SITES_SHOWN, items, key=lambda item: (item[0] in held, _requests(item[1])))
        return [
            SiteRow(name, site.pages, site.failed, site.refused, site.bytes, self._next(name)) for name, site in busiest
        ]

    def _next(self, domain: str) -> str:
        worker = self.worker
        site = worker.sites.get(domain) if worker else None
        if worker is None or site is None:
            return "-"
        at = site.clock.ready_at
        if at == inf:
            return "under way"
        wait = max(at, site.due_at or at) - worker.store.now()
        return f"in {wait:.0f} s" if wait >= 1 else "now"


def _requests(site: SiteProgress) -> int:
    return site.pages + site.failed + site.refused
