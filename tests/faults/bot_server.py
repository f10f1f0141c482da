"""A running platform for bots in other processes, and a Django process beside it to prepare and to look."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.faults.platform import Platform, Running

ROOT = Path(__file__).resolve().parents[2]
# Runs each line's code, a JSON string, and answers with its variable `answer`.
SHELL = """
import json, sys, traceback
import django
django.setup()
from crawler.bots import actions
from crawler.bots.models import BotConfig, CrawlJob, CrawlPolicy, CrawlResult, ProductURL
from crawler.domains.models import Domain
known = dict(globals())
for line in sys.stdin:
    names = dict(known)
    try:
        exec(json.loads(line), names)
        said = {"answer": names.get("answer")}
    except Exception:
        said = {"error": traceback.format_exc()}
    print(json.dumps(said, default=str), flush=True)
"""


class BotServer:
    """`platform.up`, with the first start's bot."""

    def __init__(self, folder: Path) -> None:
        self.platform = Platform(folder)
        self.running: Running = self.platform.up("--workers", "0")
        self.bot_id = str(self.platform.credentials["bot_id"])
        self.token = str(self.platform.credentials["bot_token"])
        self.url = f"http://127.0.0.1:{self.platform.port}"
        self.shell = subprocess.Popen(
            [sys.executable, "-c", SHELL],
            cwd=ROOT,
            env=self.platform.environment | {"DJANGO_SETTINGS_MODULE": "crawler.project.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def environment(self) -> dict[str, str]:
        """What a bot has to be told."""
        told = {"CRAWLER_URL": self.url, "BOT_ID": self.bot_id, "BOT_API_TOKEN": self.token}
        return dict(os.environ) | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | told

    def do(self, code: str) -> Any:
        """Runs Python in the platform's Django; gives its `answer`."""
        assert self.shell.stdin is not None and self.shell.stdout is not None
        self.shell.stdin.write(json.dumps(code) + "\n")
        self.shell.stdin.flush()
        said = json.loads(self.shell.stdout.readline())
        assert "error" not in said, said["error"]
        return said["answer"]

    def add_jobs(self, domain: str, paths: list[str], scheme: str = "https", **policy: Any) -> None:
        """A pending job for each path. Nothing but the lock limits how many may be out."""
        fields = {"respect_host_limits": False} | policy
        urls = [f"{scheme}://{domain}/{path}" for path in paths]
        self.do(f"""
domain, _ = Domain.objects.get_or_create(name={domain!r})
CrawlPolicy.objects.get_or_create(domain=domain, name="test", defaults={fields!r})
actions.add_product_urls({urls!r})
actions.schedule_due()
""")

    def clear(self) -> None:
        """No jobs, and nothing to make them of."""
        self.do("for model in (CrawlResult, CrawlJob, ProductURL, CrawlPolicy): model.objects.all().delete()")

    def states(self, domain: str) -> dict[str, int]:
        """How many jobs of a domain are in which state."""
        found: dict[str, int] = self.do(f"""
from collections import Counter
rows = CrawlJob.objects.filter(policy__domain__name={domain!r})
answer = Counter(rows.values_list("status", flat=True))
""")
        return found

    def results(self, domain: str) -> int:
        count: int = self.do(f"answer = CrawlResult.objects.filter(job__policy__domain__name={domain!r}).count()")
        return count

    def stop(self) -> None:
        self.running.stop()

    def start(self) -> None:
        self.running = self.platform.up("--workers", "0")

    def close(self) -> None:
        assert self.shell.stdin is not None and self.shell.stdout is not None
        self.shell.stdin.close()
        self.shell.wait(30)
        self.shell.stdout.close()
        self.platform.close()
