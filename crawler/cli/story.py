"""The story of a URL on the terminal, section by section; in a pipe the same as plain text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from crawler.cli.tables import PIPE_WIDTH, print_table
from crawler.crawls.schemas import (
    AgentVerdict,
    DomainOut,
    Fetches,
    Judgement,
    LinkSummary,
    RobotsOut,
    StoredDocument,
    Story,
    UrlInCrawl,
    UrlState,
)

Fact = tuple[str, object]  # what it is called; nothing is printed for None and ""

STYLES = {
    UrlState.WILL_BE_FETCHED: "green", UrlState.FETCHED: "green", UrlState.REDIRECTS: "green",
    UrlState.WAITS: "yellow", UrlState.UNKNOWN: "yellow", UrlState.FAILED: "red", UrlState.REFUSED: "red",
}  # fmt: skip
# What pages say must not steer the terminal.
CONTROLS = {code: "\ufffd" for code in (*range(0x20), *range(0x7F, 0xA0))}
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def print_story(story: Story) -> None:
    console, now = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False), story.asked_at
    console.print(Text(story.url, style="bold"))
    console.print(Text(story.verdict.text.translate(CONTROLS), style=STYLES[story.verdict.state]))
    section(console, "URL", [("normal form", story.normal_form), ("hash", story.url_hash)])
    section(console, f"Domain {story.domain}", domain_facts(story.domain_record, now))
    section(console, f"Robots of {story.robots.origin}", robots_facts(story.robots, now))
    for one in story.crawls:
        section(console, f"Crawl {one.crawl} ({one.crawl_status})", crawl_facts(one, now))
    fetches(console, story.fetches, now)
    section(console, "Document", document_facts(story.document, now))
    redirects = [("to", story.redirects.to), *(("from", url) for url in story.redirects.sources)]
    section(console, "Redirects", redirects)
    links(console, "Links out", story.outlinks, ("target_url", "anchor_text", "link_type"))
    links(console, "Links in", story.inlinks, ("source_url", "anchor_text", "link_type"))
    judgements(console, story.judgements)


def heading(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title.translate(CONTROLS), style="bold"))


def section(console: Console, title: str, facts: Iterable[Fact]) -> None:
    told = [(name, str(value).translate(CONTROLS)) for name, value in facts if value not in (None, "")]
    if not told:
        return
    heading(console, title)
    width = max(len(name) for name, _ in told) + 2
    for name, value in told:
        console.print(Text.assemble("  ", (name.ljust(width), "dim"), value), soft_wrap=True)


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Texts are printed as they are: neither controls nor rich's markup mean anything in them."""
    print_table(titles, [[escape(cell.translate(CONTROLS)) for cell in row] for row in rows])


def friendly(moment: datetime | None, now: datetime) -> str | None:
    """`2026-11-15 10:58:03 UTC (5 min ago)`."""
    if moment is None:
        return None
    seconds = round((moment - now).total_seconds())
    size, unit = next((pair for pair in UNITS if abs(seconds) >= pair[0]), (1, "s"))
    span = f"{abs(seconds) // size} {unit}"
    distance = "now" if not seconds else f"in {span}" if seconds > 0 else f"{span} ago"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC ({distance})"


def domain_facts(record: DomainOut | None, now: datetime) -> list[Fact]:
    if record is None:
        return [("status", "not known")]
    claim, block, clock = record.claim, record.block, record.politeness
    slower = f"level {clock.backoff_level}, {clock.errors_in_a_row} errors in a row" if clock.backoff_level else None
    lease = claim and f"{claim.held_by}, {'until' if claim.is_live else 'ended'} {friendly(claim.until, now)}"
    until = block and (friendly(block.until, now) or "somebody resets it")
    return [
        ("status", record.status),
        ("blocked", block and f"{block.code}: {block.reason or 'no details'}, until {until}"),
        ("claimed by", lease or "nobody"),
        ("next request", friendly(clock.next_request_at, now)),
        ("crawl delay", f"{clock.crawl_delay_seconds:g} s"),
        ("backing off", slower),
        ("not before", friendly(record.next_crawl_after, now)),
        ("last crawled", friendly(record.last_crawled_at, now)),
        ("pages", f"{record.pages_crawled:,} crawled, {record.urls_to_fetch:,} to fetch"),
    ]


def robots_facts(robots: RobotsOut, now: datetime) -> list[Fact]:
    if robots.fetched_at is None:
        return [("file", "not read yet")]
    answer = f"HTTP {robots.http_status}" if robots.http_status else robots.error or "no answer"
    return [
        ("file", f"{robots.availability} ({answer})"),
        ("fetched", friendly(robots.fetched_at, now)),
        ("expires" if robots.is_fresh else "expired", friendly(robots.expires_at, now)),
        *((one.user_agent, agent_verdict(one)) for one in robots.verdicts),
    ]


def agent_verdict(one: AgentVerdict) -> str:
    rule = f" by {one.rule!r}, line {one.line}" if one.rule else ""
    delay = f", crawl delay {one.crawl_delay_seconds:g} s" if one.crawl_delay_seconds else ""
    return f"{'allowed' if one.is_allowed else 'disallowed'}{rule}{delay}"


def crawl_facts(one: UrlInCrawl, now: datetime) -> list[Fact]:
    detail = f" ({one.refusal.detail})" if one.refusal and one.refusal.detail else ""
    return [
        ("verdict", one.verdict.text),
        ("fetched as", one.url),
        ("status", f"{one.status}, depth {one.depth}, priority {one.priority}"),
        ("refused", one.refusal and f"{one.refusal.reason}: {one.refusal.explanation}{detail}"),
        ("delay", f"{one.delay_seconds:g} s between requests"),
        ("attempts", f"{one.attempts}, {one.failures} failed" if one.attempts else None),
        ("last attempt", friendly(one.last_attempt_at, now)),
        ("last answer", one.last_status_code and f"HTTP {one.last_status_code}"),
        ("last error", one.last_error),
        ("next due", friendly(one.next_due_at, now)),
        ("URLs ahead", f"{one.urls_ahead:,}" if one.urls_ahead is not None else None),
        ("found", f"by {one.discovered_by}, {friendly(one.discovered_at, now)}"),
        *(("found on", f"{step.url} (depth {step.depth}, by {step.discovered_by})") for step in one.discovered_through),
    ]


def fetches(console: Console, found: Fetches, now: datetime) -> None:
    if not found.total:
        return
    more = f", the newest {len(found.newest)}" if found.total > len(found.newest) else ""
    heading(console, f"Fetches: {found.total:,}{more}")
    rows = [
        (
            friendly(one.fetched_at, now) or "", one.outcome, str(one.http_status or "-"), f"{one.bytes:,}",
            f"{one.response_time_ms or 0} ms", one.address or "-", one.note or "",
        )
        for one in found.newest
    ]  # fmt: skip
    table(("when", "outcome", "status", "bytes", "took", "address", "note"), rows)


def document_facts(document: StoredDocument | None, now: datetime) -> list[Fact]:
    if document is None:
        return []
    same, near = document.duplicate_of, document.near_duplicate_of
    return [
        ("title", document.title),
        ("content", f"{document.content_type or 'unknown type'}, {document.content_length or 0:,} bytes"),
        ("truncated", "yes" if document.is_truncated else None),
        ("visited", friendly(document.crawled_at, now)),
        ("changed", friendly(document.changed_at, now)),
        ("same as", same and (same.url or same.url_hash)),
        ("nearly as", near and (near.url or near.url_hash)),
        ("stored in", document.storage_path),
    ]


def links(console: Console, title: str, found: LinkSummary, columns: Sequence[str]) -> None:
    if not found.count:
        return
    most = "" if found.is_complete else "more than "
    shown = f", the first {len(found.examples)}" if found.count > len(found.examples) else ""
    heading(console, f"{title}: {most}{found.count:,}{shown}")
    table(("URL", "text", "type"), [[getattr(link, name) for name in columns] for link in found.examples])


def judgements(console: Console, found: Sequence[Judgement]) -> None:
    if not found:
        return
    heading(console, "Crawls that have not met it")
    table(("crawl", "status", "would say"), [(one.crawl, one.crawl_status, one.text) for one in found])
