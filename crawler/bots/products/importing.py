"""Product URLs from a file: what `crawler products import`, the API and the admin page do.

    summary = import_product_urls(open("urls.csv", "rb"), name="urls.csv", by=actor)

Everything is committed in batches, so a run that was stopped is simply repeated: what is there already counts as known.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from django.conf import settings

from crawler.accounts import audit
from crawler.accounts.actors import Actor
from crawler.bots.actions.product_rows import known_hashes
from crawler.bots.actions.products import BATCH, AddedURLs, NewPolicies, add_identities
from crawler.bots.identity import Identity, identify
from crawler.bots.models import ProductURL
from crawler.bots.products.files import Entry, Form, Source, form_of_name, read_entries
from crawler.web.urls import InvalidURL

REFUSALS_KEPT = 100
DOMAINS_NAMED = 100


@dataclass
class Refusal:
    line: int
    text: str
    reason: str


@dataclass
class ImportSummary:
    """What came of it. `added` + `known` + `repeated` + `refused` is `read`."""

    read: int = 0
    added: int = 0
    known: int = 0  # were there before
    repeated: int = 0  # stood in the file before
    refused: int = 0
    refusals: list[Refusal] = field(default_factory=list)  # the first 100
    policies_made: int = 0
    # Added or known, but covered by no policy, so nobody visits them; by domain, the first 100 domains.
    without_policy: int = 0
    domains_without_policy: dict[str, int] = field(default_factory=dict)
    dry_run: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def import_product_urls(
    source: Source,
    *,
    by: Actor,
    name: str = "",
    form: Form | None = None,
    frequency_hours: int | None = None,
    dry_run: bool = False,
    on_progress: Callable[[ImportSummary], None] = lambda _: None,
) -> ImportSummary:
    """Add every URL of a file. `name` and, before it, `form` say how it is written; else its first line does.

    With `frequency_hours` every domain of the file that has no policy at all gets one named Default. A dry run says
    what would be added and writes nothing. Raises InvalidInput when the file cannot be read as what it claims to be.
    """
    entries = read_entries(source, form or form_of_name(name))
    return import_entries(
        entries, by=by, name=name, frequency_hours=frequency_hours, dry_run=dry_run, on_progress=on_progress
    )


def import_entries(
    entries: Iterator[Entry],
    *,
    by: Actor,
    name: str = "",
    frequency_hours: int | None = None,
    dry_run: bool = False,
    on_progress: Callable[[ImportSummary], None] = lambda _: None,
) -> ImportSummary:
    """The same for URLs that were read already."""
    summary = ImportSummary(dry_run=dry_run)
    policies = NewPolicies(by, frequency_hours) if frequency_hours else None
    with closing(_Seen()) as seen:
        while batch := list(islice(entries, BATCH)):
            _take(batch, seen, policies, summary)
            on_progress(summary)
    if not dry_run:
        audit.record(by, "imported", ProductURL(url=name or "product URLs"), after=_counts(summary))
    return summary


def _take(batch: list[Entry], seen: _Seen, policies: NewPolicies | None, summary: ImportSummary) -> None:
    summary.read += len(batch)
    good = list(_identified(batch, summary))
    found = {one.url_hash: one for one in reversed(good)}  # of two spellings the first
    new = seen.first_time(list(found))
    summary.repeated += len(good) - len(new)
    _add([found[url_hash] for url_hash in new], policies, summary)


def _add(found: list[Identity], policies: NewPolicies | None, summary: ImportSummary) -> None:
    if summary.dry_run:
        known = len(known_hashes([one.url_hash for one in found]))
        summary.known += known
        summary.added += len(found) - known
        return
    added = AddedURLs()
    add_identities(found, added, source="import", policies=policies)
    summary.added += added.added
    summary.known += added.known
    summary.policies_made += added.policies_made
    summary.without_policy += sum(added.resting_by_domain.values())
    _name_domains(added.resting_by_domain, summary.domains_without_policy)


def _name_domains(counts: dict[str, int], named: dict[str, int]) -> None:
    for domain, count in counts.items():
        if domain in named or len(named) < DOMAINS_NAMED:
            named[domain] = named.get(domain, 0) + count


def _identified(batch: list[Entry], summary: ImportSummary) -> Iterator[Identity]:
    dropped = settings.CRAWLSPACE.tracking_params
    for entry in batch:
        if entry.refusal:
            _refuse(summary, entry, entry.refusal)
            continue
        try:
            yield identify(entry.text, dropped)
        except InvalidURL as error:
            _refuse(summary, entry, str(error))


def _refuse(summary: ImportSummary, entry: Entry, reason: str) -> None:
    summary.refused += 1
    if len(summary.refusals) < REFUSALS_KEPT:
        shown = entry.text[:500].encode("utf-8", "replace").decode()
        summary.refusals.append(Refusal(entry.line, shown, reason))


def _counts(summary: ImportSummary) -> dict[str, int]:
    return {name: getattr(summary, name) for name in ("read", "added", "known", "repeated", "refused")}


class _Seen:
    """The hashes of a file so far, in a database of their own that moves to disk when there are many. A set would take
    a hundred bytes for each."""

    def __init__(self) -> None:
        self.database = sqlite3.connect("", isolation_level=None)
        self.database.execute("PRAGMA journal_mode = OFF")
        self.database.execute("CREATE TABLE seen (hash TEXT PRIMARY KEY) WITHOUT ROWID")

    def first_time(self, hashes: list[str]) -> list[str]:
        """Those of them that were not asked about before, in order."""
        listed = json.dumps(hashes)
        rows = self.database.execute("SELECT hash FROM seen WHERE hash IN (SELECT value FROM json_each(?))", [listed])
        before = {row[0] for row in rows}
        self.database.execute("INSERT OR IGNORE INTO seen SELECT value FROM json_each(?)", [listed])
        return [one for one in hashes if one not in before]

    def close(self) -> None:
        self.database.close()
