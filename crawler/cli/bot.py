"""Bots: their accounts, and `bot run`, the bundled price worker, which needs no Django."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crawler.cli.problems import fail
from crawler.cli.ready import load_django
from crawler.cli.tables import print_table

if TYPE_CHECKING:
    from crawler.bots.models import BotConfig

app = typer.Typer(
    help="Bots: create, list, rotate, enable, disable, and run the bundled price worker.", no_args_is_help=True
)

BotId = Annotated[str, typer.Argument(metavar="BOT_ID", help="The bot's id, as `crawler bot list` shows it.")]
Reason = Annotated[str, typer.Option(help="Kept in the audit log.")]


@app.command()
def create(
    bot_id: Annotated[str, typer.Argument(metavar="BOT_ID", help="Letters, digits and . _ : @ - only.")],
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    max_jobs_per_pull: Annotated[int, typer.Option(min=1, max=100, help="Jobs it gets at once.")] = 100,
) -> None:
    """Create a bot and print its token, once."""
    load_django()
    from crawler.accounts.actors import actor_of_terminal
    from crawler.bots import actions

    by = actor_of_terminal()
    bot, token = actions.create_bot(by, bot_id, description=description, max_jobs_per_pull=max_jobs_per_pull)
    print(f"bot    {bot.bot_id}\ntoken  {token}")


@app.command("list")
def list_bots() -> None:
    """List bots; their tokens are not kept."""
    load_django()
    from crawler.bots.models import BotConfig

    titles = ("bot", "enabled", "jobs per pull", "last seen", "token made", "description")
    print_table(titles, [bot_row(bot) for bot in BotConfig.objects.all()])


def bot_row(bot: BotConfig) -> list[str]:
    seen, made = (when.strftime("%Y-%m-%d %H:%M") if when else "-" for when in (bot.last_seen_at, bot.token_made_at))
    return [bot.bot_id, "yes" if bot.enabled else "no", str(bot.max_jobs_per_pull), seen, made, bot.description]


@app.command()
def rotate(bot_id: BotId, reason: Reason = "") -> None:
    """Give a bot a new token and print it, once; the old one is refused from now on."""
    bot = find_bot(bot_id)
    from crawler.accounts.actors import actor_of_terminal
    from crawler.bots import actions

    print(actions.rotate_token(actor_of_terminal(), bot, reason=reason))


@app.command()
def enable(bot_id: BotId, reason: Reason = "") -> None:
    """Let a bot pull and submit again."""
    set_enabled(bot_id, True, reason)


@app.command()
def disable(bot_id: BotId, reason: Reason = "") -> None:
    """Answer a bot 403 from now on."""
    set_enabled(bot_id, False, reason)


def set_enabled(bot_id: str, enabled: bool, reason: str) -> None:
    bot = find_bot(bot_id)
    from crawler.accounts.actors import actor_of_terminal
    from crawler.bots import actions

    word = "enabled" if enabled else "disabled"
    if bot.enabled == enabled:
        print(f"{bot.bot_id} was {word} before")
        return
    actions.set_enabled(actor_of_terminal(), bot, enabled, reason=reason)
    print(f"{bot.bot_id} is {word}")


def find_bot(bot_id: str) -> BotConfig:
    load_django()
    from crawler.bots.models import BotConfig

    return BotConfig.objects.filter(bot_id=bot_id).first() or fail(f"there is no bot {bot_id!r}; see: crawler bot list")


@app.command()
def run(
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", envvar="CRAWLER_URL", help="The server; default: this machine's."),
    ] = None,
    bot_id: Annotated[
        str | None, typer.Option(metavar="BOT", envvar="BOT_ID", help="Default: that of the platform's first start.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(metavar="TOKEN", envvar="BOT_API_TOKEN", help="The bot's; better in the environment.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=500, help="Pages in work at once.")] = 32,
    domain: Annotated[str | None, typer.Option(metavar="TEXT", help="Only domains whose name contains this.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Stop when nothing is left.")] = False,
    raw_html: Annotated[bool, typer.Option("--raw-html", help="Submit the pages themselves, too.")] = False,
    delay: Annotated[float, typer.Option(min=0, help="Seconds between requests to a host.")] = 1.0,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one request.")] = 30.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
) -> None:
    """Run the bundled price worker: fetch product pages politely, read their prices, submit them."""
    from crawler.cli.price_working import Order, work

    raise typer.Exit(work(Order(url, bot_id, token, workers, domain, once, raw_html, delay, timeout, quiet, as_json)))
