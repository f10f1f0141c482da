"""What a worker did so far, for whoever watches."""

from __future__ import annotations

from dataclasses import dataclass, field

from crawler.engine.contract import Outcome, PageOutcome


@dataclass(slots=True)
class SiteProgress:
    pages: int = 0
    failed: int = 0
    refused: int = 0
    bytes: int = 0


@dataclass(slots=True)
class Progress:
    """Counts since the worker started."""

    pages: int = 0
    failed: int = 0
    refused: int = 0
    redirects: int = 0
    bytes: int = 0
    queued: int = 0
    paused: str = ""  # why nothing goes on at the moment
    last_error: str = ""
    sites: dict[str, SiteProgress] = field(default_factory=dict)
    parked: dict[str, str] = field(default_factory=dict)  # domains left alone, and why

    def count(self, page: PageOutcome) -> None:
        site = self.sites.get(page.entry.domain)
        if site is None:
            site = self.sites[page.entry.domain] = SiteProgress()
        outcome = page.outcome
        if outcome is Outcome.PAGE or outcome is Outcome.UNCHANGED:
            self.pages += 1
            site.pages += 1
        elif outcome is Outcome.FAILED:
            self.failed += page.status == "failed"
            site.failed += page.status == "failed"
            self.last_error = f"{page.entry.url}: {page.error}"
        elif outcome is Outcome.REFUSED:
            self.refused += 1
            site.refused += 1
        else:
            self.redirects += 1
        self.bytes += page.bytes_downloaded
        site.bytes += page.bytes_downloaded
