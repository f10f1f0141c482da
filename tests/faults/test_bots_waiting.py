"""Bots that wait for jobs hold nobody up: neither the others nor the end of the server."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from tests.faults.bot_record import BotDatabase
from tests.faults.platform import PATIENCE_SECONDS, Platform

pytestmark = pytest.mark.postgresql

BOTS = 30


class WaitingBot(threading.Thread):
    """Asks once, for a job that does not come."""

    def __init__(self, platform: Platform, bot_id: str, token: str) -> None:
        super().__init__()
        self.port = platform.port
        self.body = json.dumps({"bot_id": bot_id, "api_token": token, "wait_seconds": 30})
        self.answer: object = None

    def run(self) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            line.request("POST", "/api/crawl/pull/", self.body, {"Content-Type": "application/json"})
            response = line.getresponse()
            self.answer = (response.status, json.loads(response.read())["data"])
        except (OSError, http.client.HTTPException) as error:
            self.answer = error
        finally:
            line.close()


def start_bots(platform: Platform) -> list[WaitingBot]:
    command = [sys.executable, "-m", "tests.faults.bot_people", "bots", str(BOTS)]
    made = subprocess.run(command, env=platform.environment, check=True, stdout=subprocess.PIPE)
    bots = [WaitingBot(platform, name, token) for name, token in json.loads(made.stdout).items()]
    for bot in bots:
        bot.start()
    return bots


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"still not: {what}"
        time.sleep(0.02)


def waiting(bots: list[WaitingBot]) -> int:
    return sum(bot.is_alive() for bot in bots)


NOTHING = (200, {"jobs": [], "count": 0, "skipped": 0})


def test_everybody_who_waits_is_answered_when_the_server_stops(platform: Platform) -> None:
    platform.settings["SERVER_THREADS"] = "64"
    running = platform.up("--workers", "0")
    bots = start_bots(platform)
    seen = "SELECT count(*) FROM bot_configs WHERE bot_id LIKE 'bot%' AND last_seen_at IS NOT NULL"
    until(lambda: BotDatabase(platform).one(seen) == BOTS, "the server has every request")
    assert waiting(bots) == BOTS
    assert running.stop(signal.SIGTERM) == 0
    assert waiting(bots) == 0, "nobody was left to wait longer than the server lived"
    assert [bot.answer for bot in bots] == [NOTHING] * BOTS
    assert "did not stop in time" not in running.text


def test_others_are_served_while_half_of_the_threads_wait(platform: Platform) -> None:
    platform.settings["SERVER_THREADS"] = "8"
    running = platform.up("--workers", "0")
    bots = start_bots(platform)
    until(lambda: waiting(bots) == 4, "all but four were answered at once")
    assert {platform.ask("/api/v1/me").status for _ in range(20)} == {200}
    assert waiting(bots) == 4
    assert running.stop(signal.SIGTERM) == 0
    for bot in bots:
        bot.join(PATIENCE_SECONDS)
    assert [bot.answer for bot in bots] == [NOTHING] * BOTS
