"""Tables in the terminal; in a pipe lines are as long as they need to be, so that grep and awk find whole values."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

PIPE_WIDTH = 1000


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """The first column identifies the row and is never cut."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for number, title in enumerate(titles):
        table.add_column(title, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    with console.capture() as captured:
        console.print(table)
    print("\n".join(line.rstrip() for line in captured.get().strip("\n").splitlines()))
