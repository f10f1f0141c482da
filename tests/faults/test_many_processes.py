"""Two server processes share one truth: limits and idempotency hold across them. Claims never overlap."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.platform import Platform

pytestmark = pytest.mark.postgresql


@pytest.fixture
def crowded(platform: Platform) -> Platform:
    platform.settings |= {"SERVER_PROCESSES": "2", "RATE_LIMIT_DATA": "30", "RATE_LIMIT_JOBS": "1000"}
    platform.up("--workers", "0")
    return platform


def test_the_limit_holds_across_server_processes(crowded: Platform) -> None:
    with ThreadPoolExecutor(16) as pool:
        codes = Counter(pool.map(lambda _: crowded.ask("/api/v1/me").status, range(80)))
    assert codes == {200: 30, 429: 50}


def test_one_key_has_one_effect_across_server_processes(crowded: Platform) -> None:
    def create(number: int) -> int:
        body, key = {"username": f"user{number % 5}"}, f"key{number % 5}"
        return crowded.ask("/api/v1/users", "POST", body, **{"Idempotency-Key": key}).status

    with ThreadPoolExecutor(16) as pool:
        codes = Counter(pool.map(create, range(60)))
    assert set(codes) <= {201, 409}, codes
    assert codes[201] >= 5
    assert len(crowded.ask("/api/v1/users").json()["users"]) == 1 + 5


CLAIMER = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.project.settings"
import django
django.setup()
from crawler.foundation import lease
from crawler.processes.scheduler import TABLE
got = []
while batch := lease.claim(TABLE, sys.argv[1], seconds=600, limit=3):
    got += [[proof.key, proof.fence] for proof in batch]
print(json.dumps(got))
"""
FILL = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.project.settings"
import django
django.setup()
from django.utils import timezone
from crawler.processes.models import PeriodicTask
PeriodicTask.objects.bulk_create(PeriodicTask(name=f"t{n:03}", next_run_at=timezone.now()) for n in range(200))
"""


def test_rivals_never_claim_the_same_row(platform: Platform) -> None:
    assert platform.run("migrate").returncode == 0
    subprocess.run([sys.executable, "-c", FILL], env=platform.environment, check=True, timeout=60)
    rivals = [
        subprocess.Popen([sys.executable, "-c", CLAIMER, f"rival{n}"], env=platform.environment, stdout=subprocess.PIPE)
        for n in range(4)
    ]
    claims = [claim for rival in rivals for claim in json.loads(rival.communicate(timeout=60)[0])]
    assert sorted(claims) == [[f"t{n:03}", 1] for n in range(200)]
