"""How progress looks: a live table on a terminal, a line every few seconds elsewhere, or nothing but trouble."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from crawler.cli.crawling.watching import Screen, View
from crawler.cli.crawling.words import counted, duration, size, without_name

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

LINE_SECONDS = 5.0
PARKED_LINES = 3


def screen_for(*, quiet: bool) -> Screen:
    if quiet:
        return Trouble()
    return Terminal() if sys.stderr.isatty() else Lines()


class Trouble:
    """Says only that nothing goes on, and when it goes on again."""

    def __init__(self) -> None:
        self.paused = ""

    def show(self, view: View) -> None:
        paused = view.run.paused
        if paused != self.paused:
            say(f"paused: {paused}; trying again every few seconds" if paused else "going on")
            self.paused = paused

    def close(self) -> None:
        pass


class Lines(Trouble):
    def __init__(self) -> None:
        super().__init__()
        self.next_at = time.monotonic() + LINE_SECONDS

    def show(self, view: View) -> None:
        super().show(view)
        if time.monotonic() >= self.next_at:
            self.next_at = time.monotonic() + LINE_SECONDS
            say(f"{duration(view.seconds)}  {'paused  ' if view.run.paused else ''}{headline(view)}")


class Terminal:
    """Redrawn in place; gone when the crawl ends, for the summary says the same and stays."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self.live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
        self.live.start()

    def show(self, view: View) -> None:
        self.live.update(drawn(view, self.live.console.height), refresh=True)

    def close(self) -> None:
        self.live.stop()


def say(message: str) -> None:
    print(f"crawler: {message}", file=sys.stderr, flush=True)


def headline(view: View) -> str:
    total = view.total
    pages = f"{total.pages:,} of {counted(view.max_pages, 'page')}" if view.max_pages else counted(total.pages, "page")
    rates = f"{view.rate_now:,.0f}/s now, {view.rate_overall:,.0f}/s overall"
    if view.rate_overall < 10:
        rates = f"{view.rate_now:.1f}/s now, {view.rate_overall:.1f}/s overall"
    return (
        f"{pages}  {rates}  {max(0, total.queued):,} queued  {total.failed:,} failed  {total.refused:,} refused"
        f"  {size(total.bytes)}"
    )


def drawn(view: View, height: int) -> Group:
    from rich.console import Group
    from rich.text import Text

    top = Text(f"{view.title}  {duration(view.seconds)}", style="bold", overflow="ellipsis", no_wrap=True)
    parts: list[Text | Table] = [top, Text(headline(view), style="cyan")]
    if view.run.paused:
        parts.append(Text(f"paused: {view.run.paused}; trying again every few seconds", style="bold red"))
    foot = _footer(view)
    room = height - len(parts) - len(foot) - 4
    if room > 0 and view.run.sites:
        parts.append(_domains(view, room))
    return Group(*parts, *foot)


def _domains(view: View, room: int) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("domain", overflow="ellipsis", no_wrap=True)
    for title in ("pages", "failed", "refused", "bytes", "next"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in view.run.sites[:room]:
        counts = (f"{row.pages:,}", f"{row.failed:,}", f"{row.refused:,}", size(row.bytes))
        table.add_row(row.domain, *counts, row.next, style="dim" if row.next == "-" else "")
    if (more := view.run.domains - len(view.run.sites[:room])) > 0:
        table.add_row(f"and {more:,} more", style="dim")
    return table


def _footer(view: View) -> list[Text]:
    from rich.text import Text

    lines = [
        Text(f"left alone: {domain} ({without_name(why, domain)})", style="yellow", overflow="ellipsis", no_wrap=True)
        for domain, why in list(view.run.parked.items())[-PARKED_LINES:]
    ]
    if (more := view.run.parked_count - len(lines)) > 0:
        lines.append(Text(f"and {more:,} more domains left alone", style="yellow"))
    hint = "stopping: saving what is under way; Ctrl-C again leaves at once"
    lines.append(Text(hint if view.is_stopping else "Ctrl-C stops and saves; the same command resumes", style="dim"))
    return lines
