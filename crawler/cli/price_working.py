"""`crawler bot run`: who we are to which server, what people see, and the exit code. No Django."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict, dataclass
from typing import Any

from crawler.cli.problems import FAILED, MISUSED, fail
from crawler.foundation.config import Config, load
from crawler.integrations.client import AuthenticationError, Bot, BotError, ConfigurationError, Summary
from crawler.integrations.price_worker import Manners, Outcome, run


@dataclass(frozen=True, slots=True)
class Order:
    """What is left open is looked for on this machine."""

    url: str | None
    bot_id: str | None
    token: str | None
    workers: int
    domain: str | None
    once: bool
    raw_html: bool
    delay_seconds: float
    timeout_seconds: float
    quiet: bool
    as_json: bool


def work(order: Order) -> int:
    """The exit code: 1 when `--once` found jobs and not one price."""
    config = load()
    # What the SDK would log we tell ourselves, but for mistakes of ours with their traceback.
    logging.getLogger("crawler.bot").addFilter(lambda record: record.exc_info is not None)
    bot = bot_for(order, config)
    manners = Manners(
        config.user_agent, config.fetch_allowed_networks, order.delay_seconds, timeout_seconds=order.timeout_seconds
    )
    if not order.quiet:
        say(f"working for {bot.url} as {bot.bot_id}; Ctrl-C stops, and gives back what was not begun")
    screen = Screen(order, bot)
    try:
        summary = run(
            bot,
            manners,
            workers=order.workers,
            domain=order.domain,
            until_idle=order.once,
            sends_html=order.raw_html,
            tell=screen.tell,
        )
    except AuthenticationError as error:
        fail(f"{error}; a new token: crawler bot rotate {bot.bot_id}" if error.status == 401 else str(error))
    except BotError as error:
        fail(str(error))
    if screen.gave_up:
        return FAILED
    conclude(summary, order)
    return FAILED if order.once and summary.failed and not summary.done else 0


def bot_for(order: Order, config: Config) -> Bot:
    """Given, else in the environment, else as the first start of the platform on this machine wrote it down."""
    kept = kept_credentials(config)
    url = order.url or config.base_url
    token = order.token
    bot_id = order.bot_id
    if token is None and (bot_id is None or bot_id == kept.get("bot_id")):
        bot_id, token = kept.get("bot_id"), kept.get("bot_token")
    if token is None:
        fail(
            f"no token: set BOT_API_TOKEN (crawler bot create NAME makes a bot); there is none in"
            f" {config.home / 'credentials.json'} for {bot_id or 'a bot'}",
            MISUSED,
        )
    try:
        return Bot(url, bot_id, token)
    except ConfigurationError as error:
        fail(str(error), MISUSED)


def kept_credentials(config: Config) -> dict[str, Any]:
    try:
        found = json.loads((config.home / "credentials.json").read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


class Screen:
    """A line for every job, on standard error; with `--quiet` only problems.

    With `--once` a server that was never there is not waited for.
    """

    def __init__(self, order: Order, bot: Bot) -> None:
        self.order = order
        self.bot = bot
        self.has_met_server = False
        self.gave_up = False

    def tell(self, outcome: Outcome) -> None:
        if outcome.kind == "trouble":
            self._tell_trouble(outcome.detail)
            return
        self.has_met_server |= outcome.kind != "stopping"
        if outcome.kind == "lost":
            say(f"lost: {outcome.url}: {outcome.detail}")
        elif not self.order.quiet:
            self._tell_news(outcome)

    def _tell_trouble(self, detail: str) -> None:
        self.gave_up = self.order.once and not self.has_met_server
        told = detail.partition("; trying again")[0] if self.gave_up else detail
        say(f"{told} (is the server running? crawler up)")
        if self.gave_up:
            self.bot.stop()

    def _tell_news(self, outcome: Outcome) -> None:
        if outcome.kind in ("done", "failed"):
            print(f"{outcome.kind:6}  {outcome.url}  {outcome.detail}", file=sys.stderr, flush=True)
        elif outcome.kind in ("recovered", "stopping") and not self.gave_up:
            say(f"{outcome.kind}{outcome.detail and f': {outcome.detail}'}")


def conclude(summary: Summary, order: Order) -> None:
    if order.as_json:
        print(json.dumps(asdict(summary) | {"seconds": round(summary.seconds, 3)}), flush=True)
    elif not order.quiet:
        print(summary, flush=True)


def say(message: str) -> None:
    print(f"crawler: {message}", file=sys.stderr, flush=True)
