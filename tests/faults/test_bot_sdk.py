"""Bots made with the SDK at a real server: all the work is done, whatever stops in the middle of it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from crawler.integrations.client import (
    AuthenticationError,
    Bot,
    Event,
    Failure,
    GiveBack,
    InvalidRequest,
    Job,
    JobNotLocked,
    Refused,
    Result,
    Summary,
)
from tests.faults.bot_server import BotServer

pytestmark = [pytest.mark.postgresql, pytest.mark.xdist_group("bot-sdk")]
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BotServer]:
    made = BotServer(tmp_path_factory.mktemp("bots"))
    yield made
    made.close()


@pytest.fixture
def bot(server: BotServer) -> Iterator[Bot]:
    with Bot(server.url, server.bot_id, server.token) as made:
        yield made


def found(job: Job) -> Result:
    return Result(price=Decimal("9.99"), currency="EUR", title=job.url, parsed_data={"a": [1]}, raw_html="<p>9.99</p>")


async def found_async(job: Job) -> Result:
    await asyncio.sleep(0)
    return found(job)


def counted(summary: Summary) -> tuple[int, int, int, int]:
    return summary.done, summary.failed, summary.released, summary.lost


def test_the_plain_loop_does_all_the_work(server: BotServer, bot: Bot) -> None:
    server.add_jobs("plain.com", [str(number) for number in range(200)])
    assert counted(bot.run(found, workers=8, domain="plain.com", until_idle=True)) == (200, 0, 0, 0)
    assert server.states("plain.com") == {"done": 200}
    assert server.results("plain.com") == 200
    price = server.do("answer = str(CrawlResult.objects.filter(job__policy__domain__name='plain.com')[0].price)")
    assert Decimal(price) == Decimal("9.99")


def test_the_async_loop_does_all_the_work(server: BotServer, bot: Bot) -> None:
    server.add_jobs("async.com", [str(number) for number in range(200)])
    summary = asyncio.run(bot.run_async(found_async, workers=100, domain="async.com", until_idle=True))
    assert counted(summary) == (200, 0, 0, 0)
    assert server.states("async.com") == {"done": 200}


def test_failures_are_told_and_tried_again(server: BotServer, bot: Bot) -> None:
    server.add_jobs("failing.com", ["raises", "says", "wrong", "nothing"], max_retries=2)
    seen: list[Event] = []

    def handle(job: Job) -> Result | Failure:
        match job.url.rpartition("/")[2]:
            case "raises":
                raise ValueError("no price here\nnot at all")
            case "says":
                return Failure("sold out")
            case "wrong":
                return Result(1, "ABC")
        return None  # type: ignore[return-value]  # a bug that somebody will have

    assert counted(bot.run(handle, domain="failing.com", until_idle=True, on_event=seen.append)) == (0, 8, 0, 0)
    assert server.states("failing.com") == {"failed": 4}
    told = set(
        server.do("answer = list(CrawlJob.objects.filter(status='failed').values_list('last_error', flat=True))")
    )
    assert {"ValueError: no price here", "sold out"} <= told
    assert 'the result was refused: currency: "ABC" is not an ISO 4217 currency.' in told
    assert "InvalidResult: handle() must return a Result or a Failure, not None" in told
    assert [event.detail for event in seen if event.kind == "failed"].count("sold out") == 2


def test_jobs_can_be_given_back(server: BotServer, bot: Bot) -> None:
    server.add_jobs("back.com", ["1", "2"])

    def handle(job: Job) -> Result:
        raise GiveBack("not my kind")

    summary = bot.run(handle, domain="back.com", until_idle=True)
    assert (summary.done, summary.failed, summary.lost) == (0, 0, 0)
    assert summary.released == summary.pulled >= 2
    assert server.states("back.com") == {"pending": 2}
    assert server.do("answer = list(CrawlJob.objects.filter(retry_count__gt=0, policy__domain__name='back.com'))") == []


def in_a_thread(work: Callable[[], Summary]) -> tuple[threading.Thread, list[Summary]]:
    got: list[Summary] = []
    thread = threading.Thread(target=lambda: got.append(work()))
    thread.start()
    return thread, got


def test_the_server_is_restarted_under_the_bot(server: BotServer, bot: Bot) -> None:
    server.add_jobs("restart.com", [str(number) for number in range(120)])
    half_way, go_on, count = threading.Event(), threading.Event(), iter(range(1_000))
    troubles: list[Event] = []

    def handle(job: Job) -> Result:
        if next(count) >= 60:
            half_way.set()
            assert go_on.wait(PATIENCE_SECONDS)
        return found(job)

    thread, got = in_a_thread(
        lambda: bot.run(handle, workers=4, domain="restart.com", until_idle=True, on_event=troubles.append)
    )
    assert half_way.wait(PATIENCE_SECONDS)
    server.stop()
    go_on.set()  # answers and pulls find nobody
    server.start()
    thread.join(PATIENCE_SECONDS)
    assert [counted(one) for one in got] == [(120, 0, 0, 0)]
    assert server.states("restart.com") == {"done": 120}
    assert server.results("restart.com") == 120


def test_heartbeats_keep_a_slow_job(server: BotServer, bot: Bot) -> None:
    server.add_jobs("slow.com", ["1"], timeout_seconds=2)

    def handle(job: Job) -> Result:
        over_at = job.locked_until + timedelta(seconds=1)  # it was told to the second, downwards
        threading.Event().wait((over_at - datetime.now(UTC)).total_seconds())
        return found(job)

    assert counted(bot.run(handle, domain="slow.com", until_idle=True)) == (1, 0, 0, 0)
    assert server.states("slow.com") == {"done": 1}


BOT_THAT_HANGS = """
import os, sys, threading
from crawler.integrations.client import Bot, Result
def handle(job):
    if job.url.endswith("quick"):
        return Result(1, "EUR")
    os.write(1, b"begun\\n")  # in one go: print writes twice
    threading.Event().wait()
def tell(event):
    if event.kind == "stopping":
        print("stopping", flush=True)
options = {"domain": sys.argv[1], "grace_seconds": float(sys.argv[2])}
print(Bot().run(handle, workers=2, on_event=tell, **options), flush=True)
"""


@pytest.mark.parametrize(("grace_seconds", "signals"), [("0.1", 1), ("60", 2)])
def test_a_signal_gives_everything_back(server: BotServer, grace_seconds: str, signals: int) -> None:
    domain = f"signal{signals}.com"
    server.add_jobs(domain, [*map(str, range(20)), "quick"], priority=5)
    script = [sys.executable, "-c", BOT_THAT_HANGS, domain, grace_seconds]
    with subprocess.Popen(script, env=server.environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline() for _ in range(2)]
            for _ in range(signals):
                process.send_signal(signal.SIGTERM)
                lines.append(process.stdout.readline())
            said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
    assert lines == ["begun\n"] * 2 + ["stopping\n"] * signals
    assert process.returncode == 0
    states = server.states(domain)
    assert "locked" not in states
    assert states["pending"] >= 20
    assert " 0 lost" in said and f"{states.get('done', 0)} done" in said


def test_stop_from_another_thread(server: BotServer, bot: Bot) -> None:
    begun = threading.Event()
    server.add_jobs("stop.com", ["1"])

    def handle(job: Job) -> Result:
        begun.set()
        return found(job)

    thread, got = in_a_thread(lambda: bot.run(handle, domain="stop.com", wait_seconds=1))
    assert begun.wait(PATIENCE_SECONDS)
    bot.stop()
    thread.join(PATIENCE_SECONDS)
    assert [counted(one) for one in got] == [(1, 0, 0, 0)]


def test_who_breaks_off_gives_everything_back(server: BotServer, bot: Bot) -> None:
    server.add_jobs("broken.com", ["1", "2", "3"])

    def disturb(event: Event) -> None:
        raise RuntimeError("a listener's mistake")

    with pytest.raises(RuntimeError, match="listener"):
        bot.run(found, workers=1, domain="broken.com", on_event=disturb)
    assert "locked" not in server.states("broken.com")

    async def cancelled() -> None:
        begun = asyncio.Event()

        async def hang(job: Job) -> Result:
            begun.set()
            await asyncio.Event().wait()
            return found(job)

        running = asyncio.create_task(bot.run_async(hang, workers=2, domain="broken.com"))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancelled())
    assert "locked" not in server.states("broken.com")


def test_who_is_not_known_is_told_so(server: BotServer) -> None:
    with pytest.raises(AuthenticationError, match=r"does not accept this bot: .*BOT_API_TOKEN") as caught:
        Bot(server.url, server.bot_id, "bot_wrong").run(found)
    assert caught.value.status == 401
    with pytest.raises(AuthenticationError):
        asyncio.run(Bot(server.url, server.bot_id, "bot_wrong").run_async(found_async))
    with pytest.raises(Refused, match="is that the address of a Crawlspace server"):
        Bot(server.url + "/elsewhere", server.bot_id, server.token).run(found)


def test_a_bot_that_is_switched_off_is_told_so(server: BotServer) -> None:
    token = server.do("""
from crawler.accounts.actors import SYSTEM
bot, answer = actions.create_bot(SYSTEM, "off-001")
BotConfig.objects.filter(bot_id="off-001").update(enabled=False)
""")
    with pytest.raises(AuthenticationError, match="off-001 is disabled"):
        Bot(server.url, "off-001", token).run(found)


def test_verbs_for_a_loop_of_ones_own(server: BotServer, bot: Bot) -> None:
    server.add_jobs("verbs.com", [str(number) for number in range(5)])
    jobs = bot.pull(max_jobs=5, domain="verbs.com")
    assert len(jobs) == 5 and all(job.fence for job in jobs)
    first, second, third, *rest = jobs
    assert bot.submit(first, found(first)).status == "done"
    with pytest.raises(JobNotLocked):
        bot.submit(first, found(first))
    with pytest.raises(InvalidRequest) as caught:
        bot.submit(second, Result(1, "ABC"))
    assert set(caught.value.fields) == {"currency"}
    told = bot.submit_batch([(first, found(first)), (second, Failure("gone")), (third, found(third))])
    assert isinstance(told[0], JobNotLocked)
    assert [one.status for one in told[1:] if not isinstance(one, Refused)] == ["pending", "done"]
    locks = bot.heartbeat([first, *rest])
    assert (len(locks.kept), locks.lost) == (2, [first])
    assert all(job.locked_until >= was.locked_until for job, was in zip(locks.kept, rest, strict=True))
    assert [job.job_id for job in bot.release(rest).kept] == [job.job_id for job in rest]
    assert server.states("verbs.com") == {"done": 2, "pending": 3}
