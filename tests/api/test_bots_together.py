"""Many bots at one real server: no job goes to two of them, no answer is lost, no host is asked too much."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import platform
from tests.faults.platform import Platform

__all__ = ["platform"]
pytestmark = pytest.mark.postgresql

ROOT = Path(__file__).resolve().parents[2]
BOTS, FREE, HOSTS, LIMITED = 6, 120, 4, 20
# On four hosts there are twenty URLs each, and time for five of them: 50 s by 10 s.
PREPARE = f"""
from crawler.bots import actions
from crawler.bots.models import CrawlPolicy
from crawler.domains.models import Domain
for name, limited in [("free.com", False)] + [(f"slow{{n}}.com", True) for n in range({HOSTS})]:
    domain = Domain.objects.create(name=name, crawl_delay_ms=10_000)
    CrawlPolicy.objects.create(domain=domain, name="x", respect_host_limits=limited, timeout_seconds=50)
actions.add_product_urls(f"https://free.com/{{n}}" for n in range({FREE}))
actions.add_product_urls(f"https://slow{{n % {HOSTS}}}.com/{{n}}" for n in range({HOSTS * LIMITED}))
print(actions.schedule_due())
"""
COUNT = """
from collections import Counter
from crawler.bots.models import CrawlJob, CrawlResult
import json
print(json.dumps([Counter(CrawlJob.objects.values_list("status", flat=True)), CrawlResult.objects.count()]))
"""


def shell(server: Platform, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v", "0", "-c", code],
        cwd=ROOT, env=os.environ | server.settings, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


class Worker(threading.Thread):
    """Pulls and answers until there is nothing more."""

    def __init__(self, server: Platform, credentials: dict[str, str]) -> None:
        super().__init__()
        self.address = f"http://127.0.0.1:{server.port}/api/crawl"
        self.credentials = credentials
        self.urls: list[str] = []
        self.done: list[str] = []

    def post(self, path: str, body: dict[str, Any]) -> Any:
        text = json.dumps(self.credentials | body).encode()
        headers = {"Content-Type": "application/json"}
        ask = urllib.request.Request(f"{self.address}/{path}/", text, headers)
        with urllib.request.urlopen(ask, timeout=60) as answer:
            return json.load(answer)["data"]

    def run(self) -> None:
        while jobs := self.post("pull", {"max_jobs": 3})["jobs"]:
            self.urls += [job["url"] for job in jobs]
            for job in jobs:
                found = {"success": True, "price": 1, "currency": "EUR", "fence": job["fence"]}
                self.post("submit", {"job_id": job["job_id"], **found})
                self.done.append(job["job_id"])


def test_many_bots_share_the_work(platform: Platform) -> None:
    platform.up()
    made = platform.credentials
    shown = {"bot_id": made["bot_id"], "api_token": made["bot_token"]}
    shell(platform, PREPARE)
    began = time.monotonic()
    workers = [Worker(platform, shown) for _ in range(BOTS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    done = [job_id for worker in workers for job_id in worker.done]
    assert len(set(done)) == len(done), "no job went to two"
    hosts = Counter(url.split("/")[2] for worker in workers for url in worker.urls)
    assert hosts["free.com"] == FREE
    for number in range(HOSTS):
        most = 6 + (time.monotonic() - began) / 10
        assert 5 <= hosts[f"slow{number}.com"] <= most, "what 50 s have room for, and what came free meanwhile"
    states, results = json.loads(shell(platform, COUNT))
    assert states == {"done": len(done), "pending": FREE + HOSTS * LIMITED - len(done)}
    assert results == len(done)
