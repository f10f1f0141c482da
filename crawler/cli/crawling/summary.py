"""What came of it: as text, as one JSON object, and as an exit code."""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from crawler.cli.crawling.figures import Figures
from crawler.cli.crawling.words import counted, duration, rate, size, without_name
from crawler.engine.refusals import Reason

if TYPE_CHECKING:
    from crawler.crawls.review import Review

COMPLETE, NOTHING, INCOMPLETE = 0, 1, 3
REASONS_SHOWN = 6
DOMAINS_SHOWN = 5


class Ending(StrEnum):
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"  # URLs are left: their domains are left alone for now
    INTERRUPTED = "interrupted"
    FAILED = "failed"  # not one page


@dataclass(frozen=True, slots=True)
class Result:
    ending: Ending
    review: Review
    run: Figures
    job_id: str
    resumed: bool
    was_complete: bool  # before this command
    seconds: float
    startup_seconds: float
    database: str
    archive: str
    command: str
    out: str = ""  # the folder, where it has one of its own
    stop_code: int = 0

    @property
    def exit_code(self) -> int:
        codes = {Ending.COMPLETE: COMPLETE, Ending.FAILED: NOTHING, Ending.INCOMPLETE: INCOMPLETE}
        return codes.get(self.ending, self.stop_code)

    @property
    def left_alone(self) -> list[dict[str, Any]]:
        """Domains with URLs that wait, then domains that were given up."""
        whys = {domain: without_name(why, domain) for domain, why in self.run.parked.items()}
        waiting = [
            {"domain": one.domain, "why": whys.pop(one.domain, one.why), "until": one.until, "urls": one.urls}
            for one in self.review.left_alone
        ]
        return waiting + [{"domain": domain, "why": why, "until": None, "urls": 0} for domain, why in whys.items()]

    def to_json(self) -> dict[str, Any]:
        found = self.review
        return {
            "status": self.ending.value,
            "pages": found.pages,
            "failed": found.failed,
            "refused": found.refused,
            "bytes": found.bytes,
            "seconds": round(self.seconds, 3),
            "pages_per_second": round(rate(found.pages_this_run, self.seconds), 1),
            "database": self.database,
            "archive": self.archive,
            "crawl": self.job_id,
            "resumed": self.resumed,
            "pages_this_run": found.pages_this_run,
            "startup_seconds": round(self.startup_seconds, 3),
            "redirects": self.run.redirects,
            "queued": max(0, found.queued),
            "reasons": found.reasons,
            "errors": [one._asdict() for one in found.errors],
            "domains_left_alone": [row | {"until": moment(row["until"])} for row in self.left_alone],
        }

    def to_text(self) -> str:
        return "\n".join(_lines(self))


def moment(when: datetime | None) -> str | None:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ") if when else None


def _lines(result: Result) -> Iterator[str]:
    yield _headline(result)
    yield ""
    yield from _failed(result)
    yield from _refused(result)
    yield from _left_alone(result)
    if result.run.redirects:
        yield f"  redirects   {result.run.redirects:,}"
    yield f"  database    {result.database}"
    yield f"  archive     {result.archive}"
    yield from _advice(result)


def _headline(result: Result) -> str:
    found, seconds = result.review, result.seconds
    pages = counted(found.pages, "page")
    if result.was_complete:
        return f"Complete already: {pages}, {size(found.bytes)}. --again visits every page once more."
    speed = f"{rate(found.pages_this_run, seconds):,.1f} pages/s"
    spent = f"{duration(seconds)} ({speed})" if seconds >= 10 else f"{seconds:.1f} s ({speed})"
    if found.pages_this_run < found.pages:
        spent = f"{found.pages_this_run:,} of them now in {spent}"
    heads = {
        Ending.COMPLETE: f"Complete: {pages}, {size(found.bytes)}, {spent}.",
        Ending.INTERRUPTED: f"Stopped and saved: {pages}, {size(found.bytes)}, {spent}.",
        Ending.INCOMPLETE: f"Incomplete: {pages}, {size(found.bytes)}, {spent};"
        f" {counted(max(0, found.queued), 'URL waits', 'URLs wait')}.",
        Ending.FAILED: "Not one page could be fetched.",
    }
    return heads[result.ending]


def _failed(result: Result) -> Iterator[str]:
    if result.review.failed or result.review.errors:
        yield f"  failed      {result.review.failed:,}"
    for group in result.review.errors:
        yield f"    {group.urls:>7,}   {group.error}, e.g. {group.example}"


def _refused(result: Result) -> Iterator[str]:
    if result.review.refused or result.review.reasons:
        yield f"  refused     {result.review.refused:,}"
    for reason, count in list(result.review.reasons.items())[:REASONS_SHOWN]:
        known = Reason(reason).explanation if reason in set(Reason) else ""
        yield f"    {count:>7,}   {reason}: {known}"


def _left_alone(result: Result) -> Iterator[str]:
    rows = result.left_alone
    if rows:
        yield f"  left alone  {counted(max(len(rows), result.run.parked_count), 'domain')}"
    for row in rows[:DOMAINS_SHOWN]:
        until = f", not asked again before {row['until']:%Y-%m-%d %H:%M} UTC" if row["until"] else ""
        waiting = f", {counted(row['urls'], 'URL waits', 'URLs wait')}" if row["urls"] else ""
        yield f"              {row['domain']}: {row['why'] or 'its URLs are due later'}{waiting}{until}"


def _advice(result: Result) -> Iterator[str]:
    lines = list(_hints(result))
    if lines:
        yield ""
        yield from lines


def _hints(result: Result) -> Iterator[str]:
    for seed in result.review.refused_seeds:
        yield f"The seed {seed.url} was refused: {seed.detail or Reason(seed.reason).explanation}"
        if seed.reason == Reason.GUARD:
            yield f"  To allow it, set FETCH_ALLOWED_NETWORKS={_network(seed.detail)} and run the command again."
    if result.run.paused:
        yield f"The last pages could not be saved and will be fetched again: {result.run.paused}"
    if result.ending in (Ending.INTERRUPTED, Ending.INCOMPLETE):
        yield f"To resume: {result.command}"
    if result.review.failed or result.review.refused:
        place = f" --out {shlex.quote(result.out)}" if result.out else ""
        yield f"Why a URL was not fetched: crawler explain URL{place}"


def _network(detail: str) -> str:
    """The address that was refused, as a network."""
    for word in detail.split():
        with suppress(ValueError):
            return str(ipaddress.ip_network(word.rstrip(":")))
    return "NETWORK, e.g. 10.0.0.0/8,"
