"""The `crawler` command, also `python -m crawler.cli`. One file a command; Django is loaded only where needed.

Exit codes: 0 done, 1 it did not work out, 2 wrong arguments or settings; `crawl` has more (docs/reference/commands.md).
"""

from __future__ import annotations

import sys

import typer

from crawler.cli import (
    bot,
    config,
    crawl,
    explain,
    migrate,
    products,
    scheduler,
    serve,
    token,
    up,
    user,
    version,
    worker,
)
from crawler.cli.problems import explained

app = typer.Typer(
    name="crawler",
    help="Crawlspace: crawls, bots and sources over one durable memory of domains and URLs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("crawl")(crawl.crawl)
app.command("explain")(explain.explain)
app.command("up")(up.up)
app.command("serve")(serve.serve)
app.command("scheduler")(scheduler.scheduler)
app.command("worker")(worker.worker)
app.command("migrate")(migrate.migrate)
app.command("config")(config.config)
app.add_typer(bot.app, name="bot")
app.add_typer(products.app, name="products")
app.add_typer(token.app, name="token")
app.add_typer(user.app, name="user")
app.command("version")(version.version)


def main() -> None:
    with explained():
        app()
    sys.exit(0)
