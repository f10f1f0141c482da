"""Every code sample of both bot documents, run unchanged against a running server with only address and token set.

What is set from outside: the address, the placeholder of the token (in v1.1's programs the variable BOT_API_TOKEN), the
placeholder of a job's id where a request names one, and names that the documents use without defining them. v1.0 is
from before there were tokens; its requests get theirs as a default header (see bot_scene).
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.conformance.bot_samples import LANGUAGES, Sample, as_json, differences, samples
from tests.conformance.bot_scene import Scene
from tests.faults.bot_server import BotServer
from tests.faults.small_site import SmallSite

pytestmark = [pytest.mark.postgresql, pytest.mark.xdist_group("bot-samples")]
SAMPLES = {(one.version, one.line): one for one in samples() if one.language in LANGUAGES}
Run = Callable[[Scene, Sample], None]
RUNS: dict[tuple[str, int], Run] = {}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BotServer]:
    made = BotServer(tmp_path_factory.mktemp("samples"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def shop() -> Iterator[SmallSite]:
    site = SmallSite()
    yield site
    site.close()


@pytest.fixture
def scene(server: BotServer, shop: SmallSite, tmp_path: Path) -> Scene:
    return Scene(server, shop, tmp_path)


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=str)
def test_sample(scene: Scene, sample: Sample) -> None:
    key = (sample.version, sample.line)
    assert key in RUNS, "a sample that nobody runs: say how, below"
    RUNS[key](scene, sample)


def test_no_sample_is_missed() -> None:
    assert set(RUNS) == set(SAMPLES)


def runs(**lines_by_version: list[int]) -> Callable[[Run], Run]:
    def note(run: Run) -> Run:
        for version, lines in lines_by_version.items():
            RUNS.update({(version.replace("_", "."), line): run for line in lines})
        return run

    return note


def neighbours(sample: Sample) -> list[Sample]:
    """The chapter's functions before this one: a sample may use what they import and define."""
    first = {"v1.0": 579, "v1.1": 853}[sample.version]
    return [
        one
        for (version, line), one in SAMPLES.items()
        if version == sample.version
        and one.language == "python"
        and first <= line < sample.line
        and "signal" not in one.text
    ]


# Commands


@runs(v1_0=[104], v1_1=[164])
def curl_pulls(scene: Scene, sample: Sample) -> None:
    scene.add_jobs("product/123", "product/124")
    answer = scene.shell(sample)
    assert differences(as_json(SAMPLES[sample.version, {"v1.0": 115, "v1.1": 176}[sample.version]]), answer) == []
    assert answer["data"]["count"] == 2
    assert scene.states() == ["locked", "locked"]


@runs(v1_0=[146], v1_1=[207])
def curl_submits(scene: Scene, sample: Sample) -> None:
    scene.add_jobs("product/123")
    answer = scene.shell(sample, job_id=scene.pull()[0]["job_id"])
    assert differences(as_json(SAMPLES[sample.version, {"v1.0": 166, "v1.1": 228}[sample.version]]), answer) == []
    assert [(row["status"], row["price"]) for row in scene.jobs()] == [("done", "99.99")]


@runs(v1_1=[1162])
def shell_starts_a_program(scene: Scene, sample: Sample) -> None:
    scene.add_jobs("1", "2", "3")
    scene.written(SAMPLES["v1.1", 1077], "simple_bot.py")
    script = scene.written(sample, "usage.sh")
    environment = scene.environment(sample)
    del environment["BOT_API_TOKEN"]  # the sample exports it
    scene.run_until(["bash", str(script)], environment, ["done"] * 3)


# Django


@runs(v1_1=[57])
def policy_is_created(scene: Scene, sample: Sample) -> None:
    made = scene.server.do(f"""
Domain.objects.get_or_create(name="amazon.co.jp")
CrawlPolicy.objects.filter(domain__name="amazon.co.jp").delete()
{sample.text}
answer = [policy.pk is not None, policy.domain.name, policy.frequency_hours, policy.priority, policy.enabled]
""")
    assert made == [True, "amazon.co.jp", 24, 5, True]


@runs(v1_0=[364, 546], v1_1=[620, 820])
def job_is_looked_at(scene: Scene, sample: Sample) -> None:
    """A listing of names, not a program: each line has a job in the state it is about."""
    scene.add_jobs(*map(str, range(40)))
    jobs = iter(scene.pull(30))
    for statement in ast.parse(sample.text).body:
        line = ast.unparse(statement)
        pending = "CrawlJob.objects.filter(status='pending').first()"
        held = f"CrawlJob.objects.get(pk={next(jobs)['job_id']!r})"
        got = scene.server.do(f"""
bot_id, msg = "bot-001", "broken"
job = {pending if "lock_for_bot" in line else held}
value = {line}
answer = [value, job.status, job.locked_by]
""")
        assert_as_described(line, got)


def assert_as_described(line: str, got: list[Any]) -> None:
    value, status, _ = got
    expected: dict[str, Any] = {
        "job.status": "locked",
        "job.locked_by": "bot-001",
        "job.lock_ttl_seconds": 600,
        "job.retry_count": 0,
        "job.max_retries": 3,
        "job.last_error": "",
        "job.is_lock_expired()": False,
        "job.can_retry()": True,
        "job.lock_for_bot(bot_id)": True,
        "job.mark_done()": None,
        "job.mark_failed(msg)": None,
        "job.mark_expired()": None,
    }
    if line.startswith("CrawlJob.STATE_"):
        assert value == line.removeprefix("CrawlJob.STATE_").lower()
    elif line == "job.locked_at":
        assert value is not None
    else:
        assert value == expected[line], line
    after = {"job.mark_done()": "done", "job.mark_failed(msg)": "pending", "job.mark_expired()": "expired"}
    assert status == after.get(line, "locked"), line


# Functions


@runs(v1_0=[579], v1_1=[853])
def page_is_crawled_and_submitted(scene: Scene, sample: Sample) -> None:
    scene.add_shop_jobs(f"good{sample.version}", f"bad{sample.version}")
    good, bad = scene.pull()
    good, bad = (good, bad) if "good" in good["url"] else (bad, good)
    assert scene.call(sample, [], f"crawl_and_submit({good['job_id']!r}, {good['url']!r})") is True
    missing = scene.shop.url + "nothing"
    assert scene.call(sample, [], f"crawl_and_submit({bad['job_id']!r}, {missing!r})") is False
    rows = {row["status"]: row for row in scene.jobs()}
    assert rows["done"]["price"] == "19.9"
    assert (rows["pending"]["retry_count"], rows["pending"]["last_error"]) == (1, "HTTP 404")


@runs(v1_0=[656], v1_1=[931])
def signal_is_handled(scene: Scene, sample: Sample) -> None:
    path = scene.written(sample)
    for number in ("SIGTERM", "SIGINT"):
        ends = f"{path.read_text()}\nsignal.raise_signal(signal.{number})\nprint('went on')\n"
        done = subprocess.run([sys.executable, "-c", ends], capture_output=True, text=True, timeout=30)
        assert (done.returncode, len(done.stdout.splitlines())) == (0, 1), done.stderr


@runs(v1_0=[673], v1_1=[948])
def jobs_are_pulled_and_executed(scene: Scene, sample: Sample) -> None:
    scene.add_shop_jobs(*(f"{sample.version}-{number}" for number in range(4)))
    scene.call(sample, neighbours(sample), "pull_and_execute('bot-001')")
    assert [(row["status"], row["price"]) for row in scene.jobs()] == [("done", "19.9")] * 4


@runs(v1_0=[718], v1_1=[995])
def jobs_are_pulled_with_backoff(scene: Scene, sample: Sample) -> None:
    scene.add_jobs(*map(str, range(7)))
    assert len(scene.call(sample, neighbours(sample), "pull_with_backoff('bot-001')")) == 5
    assert scene.states() == ["locked"] * 5 + ["pending"] * 2


@runs(v1_0=[750], v1_1=[1037])
def jobs_are_pulled_among_others(scene: Scene, sample: Sample) -> None:
    scene.add_jobs(*map(str, range(3)))
    assert len(scene.call(sample, neighbours(sample), "adaptive_pull('bot-001')")) == 3
    scene.add_jobs(*(f"more{number}" for number in range(5)))
    assert len(scene.pull(4, bot_id="bot-002")) == 4
    # One of our own, four with the other: the sample asks again for fewer, and there are none.
    assert scene.call(sample, neighbours(sample), "adaptive_pull('bot-001')") == []
    assert scene.states() == ["locked"] * 5


# Programs


@runs(v1_0=[780], v1_1=[1077])
def program_works_one_by_one(scene: Scene, sample: Sample) -> None:
    scene.add_jobs("1", "2", "3")
    bot_id = {"v1.0": "simple-bot-001", "v1.1": "bot-001"}[sample.version]
    scene.run_until([sys.executable, str(scene.written(sample))], scene.environment(sample, bot_id), ["done"] * 3)
    assert {row["price"] for row in scene.jobs()} == {"99.99"}


@runs(v1_0=[853], v1_1=[1169])
def program_works_in_threads(scene: Scene, sample: Sample) -> None:
    scene.add_jobs(*map(str, range(4)))
    bot_id = {"v1.0": "parallel-bot-001", "v1.1": "bot-001"}[sample.version]
    scene.run_until([sys.executable, str(scene.written(sample))], scene.environment(sample, bot_id), ["done"] * 4)


# Answers


def shows(situation: Callable[[Scene], Any], **lines_by_version: list[int]) -> None:
    """These samples are what the server says in that situation."""

    def compare(scene: Scene, sample: Sample) -> None:
        assert differences(as_json(sample), situation(scene)) == []

    runs(**lines_by_version)(compare)


def pulled(scene: Scene) -> Any:
    scene.add_jobs("1", "2", "3")
    scene.pull(1, bot_id="bot-002")
    answer = scene.post("pull", max_jobs=1)
    assert (answer["data"]["count"], answer["data"]["skipped"]) == (1, 1)
    return answer


def done(scene: Scene) -> Any:
    return answer_to(scene, success=True, price=99.99, currency="USD")


def tried_again(scene: Scene) -> Any:
    return answer_to(scene, success=False, error_msg="Timeout")


def exhausted(scene: Scene) -> Any:
    scene.add_jobs("1", max_retries=3)
    for _ in range(3):
        answer = scene.post("submit", job_id=scene.pull()[0]["job_id"], success=False, error_msg="Timeout")
    assert answer["data"]["retry_count"] == 3
    return answer


def answer_to(scene: Scene, **fields: Any) -> Any:
    scene.add_jobs("1", max_retries=3)
    return scene.post("submit", job_id=scene.pull()[0]["job_id"], **fields)


def too_late(scene: Scene) -> Any:
    scene.add_jobs("1")
    (job,) = scene.pull()
    scene.server.do(f"""
from datetime import timedelta
job = CrawlJob.objects.get(pk={job["job_id"]!r})
CrawlJob.objects.filter(pk=job.pk).update(locked_at=job.locked_at - timedelta(seconds=601))
""")
    return scene.post("submit", job_id=job["job_id"], success=True, price=1, currency="USD")


def somebody_elses(scene: Scene) -> Any:
    scene.add_jobs("1")
    return scene.post("submit", job_id=scene.pull(1, "bot-002")[0]["job_id"], success=True, price=1, currency="USD")


def not_found(scene: Scene) -> Any:
    nowhere = "550e8400-e29b-41d4-a716-446655440000"
    return scene.post("submit", job_id=nowhere, success=True, price=1, currency="USD")


def broken(scene: Scene) -> Any:
    return scene.server.do("""
from unittest import mock
from django.test import Client
with mock.patch("crawler.bots.api.actions.pull_jobs", side_effect=RuntimeError("a defect")):
    shown = {"bot_id": "bot-001", "api_token": "bot_x"}
    client = Client(raise_request_exception=False, headers={"Host": "localhost"})
    reply = client.post("/api/crawl/pull/", shown, content_type="application/json")
answer = reply.json()
assert reply.status_code == 500
""")


shows(pulled, v1_0=[115, 200, 415], v1_1=[176, 283, 689])
shows(done, v1_0=[166, 263], v1_1=[228, 427])
shows(tried_again, v1_0=[281], v1_1=[445])
shows(exhausted, v1_0=[298], v1_1=[462])
shows(somebody_elses, v1_0=[401], v1_1=[675])
shows(too_late, v1_0=[432], v1_1=[600, 706])
shows(not_found, v1_0=[447], v1_1=[721])
shows(broken, v1_0=[462], v1_1=[736])
# The same without their frame.
shows(lambda scene: pulled(scene)["data"]["jobs"][0], v1_1=[517])
shows(lambda scene: done(scene)["data"], v1_1=[538])
shows(lambda scene: tried_again(scene)["data"], v1_1=[558])
shows(lambda scene: exhausted(scene)["data"], v1_1=[579])


@runs(v1_0=[380], v1_1=[654])
def complaint_by_field(scene: Scene, sample: Sample) -> None:
    """Without `bot_id` the answer is 401 (decision 1), with the same words; the price is complained about as shown."""
    shown = as_json(sample)
    real = answer_to(scene, success=True, price=10**20, currency="USD")
    assert (real["success"], real["error"]) == (shown["success"], shown["error"])
    assert real["detail"] == {"price": shown["detail"]["price"]}
    anonymous = requests.post(f"{scene.server.url}/api/crawl/pull/", json={}, timeout=30)
    assert anonymous.status_code == 401
    assert anonymous.json()["detail"]["bot_id"] == shown["detail"]["bot_id"]


# Requests


@runs(v1_0=[190, 236, 252], v1_1=[250, 272, 330, 415])
def request_is_described(scene: Scene, sample: Sample) -> None:
    """A table of fields in the form of JSON: the server's own description has them all."""
    described = requests.get(f"{scene.server.url}/api/crawl/openapi.json", timeout=30).json()
    shapes = described["components"]["schemas"]
    fields = set(as_json(sample))
    assert fields <= set(shapes["SubmitIn" if "success" in fields else "PullIn"]["properties"])


@runs(v1_1=[349])
def request_is_sent(scene: Scene, sample: Sample) -> None:
    scene.add_jobs("product/123")
    body = as_json(sample) | {"api_token": scene.server.token, "job_id": scene.pull()[0]["job_id"]}
    reply = requests.post(f"{scene.server.url}/api/crawl/submit/", json=body, timeout=30)
    assert reply.status_code == 201, reply.text
    kept = scene.server.do("answer = CrawlResult.objects.order_by('-created_at').first().parsed_data")
    assert kept == body["parsed_data"]
