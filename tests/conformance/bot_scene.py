"""A server with bots, jobs and a shop, and ways to run a document's sample there with only address and token set."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import requests

from tests.conformance.bot_samples import Sample
from tests.faults.bot_server import ROOT, BotServer
from tests.faults.small_site import SmallSite

PATIENCE_SECONDS = 60
ADDRESS = re.compile(r"http://(localhost|127\.0\.0\.1):(8005|8000)")
TOKEN = re.compile(r"\bbot_bot-001_[\w.-]+|\babcd-[\w-]+")
JOB_ID = re.compile(r"550e8400-[0-9a-f-]{27}")

# What the documents use and leave to the reader.
OUTSIDE = """
def extract_price(html): return html.partition('<b>')[2].partition('</b>')[0]
def extract_title(html): return html.partition('<title>')[2].partition('</title>')[0]
def extract_stock(html): return 'sold out' not in html
def pull_with_max_jobs(bot_id, max_jobs): return pull_with_backoff(bot_id, max_jobs=max_jobs)
"""
# v1.0 knows no tokens. Its programs are not touched: what they send by default carries one, as ~/.curlrc does for curl.
DEFAULT_HEADER = """
import os, requests.sessions
plain = requests.sessions.default_headers
def default_headers():
    headers = plain()
    headers["Authorization"] = "Bearer " + os.environ["BOT_API_TOKEN"]
    return headers
requests.sessions.default_headers = default_headers
"""
DRIVER = """
import json, sys
names = {"__name__": "samples"}
*files, call = sys.argv[1:]
for file in files:
    exec(compile(open(file).read(), file, "exec"), names)
print("\\nANSWER " + json.dumps(eval(call, names), default=str), flush=True)
"""


class Scene:
    """One test's view: a domain of its own, nothing pending that it did not ask for."""

    def __init__(self, server: BotServer, shop: SmallSite, folder: Path) -> None:
        self.server, self.shop, self.folder = server, shop, folder
        self.tokens = {server.bot_id: server.token}
        server.clear()

    def add_jobs(self, *paths: str, domain: str = "example.com", **policy: Any) -> None:
        self.server.clear()
        self.server.add_jobs(domain, [f"{path}?{time.monotonic_ns()}" for path in paths], **policy)

    def add_shop_jobs(self, *paths: str) -> None:
        """Jobs whose pages can be had."""
        for path in paths:
            self.shop.answers[f"/{path}"] = (200, {"Content-Type": "text/html"}, b"<title>Tea</title><b>19.90</b>")
        self.server.clear()
        self.server.add_jobs(self.shop.url.split("/")[2], list(paths), scheme="http")

    def token_of(self, bot_id: str) -> str:
        if bot_id not in self.tokens:
            self.tokens[bot_id] = self.server.do(f"""
from crawler.accounts.actors import SYSTEM
from crawler.bots import tokens
BotConfig.objects.filter(bot_id={bot_id!r}).delete()
answer, digest = tokens.generate({bot_id!r})
BotConfig.objects.create(bot_id={bot_id!r}, token_hash=digest)
""")
        return self.tokens[bot_id]

    def post(self, path: str, bot_id: str = "bot-001", **fields: Any) -> Any:
        """The body of the answer, whatever its status."""
        body = {"bot_id": bot_id, "api_token": self.token_of(bot_id)} | fields
        return requests.post(f"{self.server.url}/api/crawl/{path}/", json=body, timeout=30).json()

    def pull(self, max_jobs: int = 10, bot_id: str = "bot-001") -> list[dict[str, Any]]:
        jobs: list[dict[str, Any]] = self.post("pull", bot_id, max_jobs=max_jobs)["data"]["jobs"]
        return jobs

    def jobs(self) -> list[dict[str, Any]]:
        """What became of this scene's jobs."""
        rows: list[dict[str, Any]] = self.server.do("""
rows = CrawlJob.objects.filter(policy__isnull=False, policy__in=CrawlPolicy.objects.all())
answer = [{"status": row.status, "retry_count": row.retry_count, "last_error": row.last_error,
           "price": str(row.result.price) if row.status == "done" else None} for row in rows]
""")
        return rows

    def states(self) -> list[str]:
        return sorted(row["status"] for row in self.jobs())

    # Samples

    def written(self, sample: Sample, name: str = "", job_id: str = "") -> Path:
        """The sample in a file, with this server's address, its bot's token and a job that there is."""
        text = ADDRESS.sub(self.server.url, sample.text)
        text = TOKEN.sub(self.server.token, text)
        text = JOB_ID.sub(job_id, text) if job_id else text
        path = self.folder / (name or f"sample_{sample.version.replace('.', '_')}_{sample.line}.py")
        path.write_text(text)
        return path

    def environment(self, sample: Sample, bot_id: str = "bot-001") -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("BOT_ID", "BOT_API_TOKEN")}
        search = [str(Path(sys.executable).parent), kept["PATH"]]
        given = {"BOT_API_TOKEN": self.token_of(bot_id), "PATH": os.pathsep.join(search), "PYTHONUNBUFFERED": "1"}
        if sample.version == "v1.0":
            (self.folder / "sitecustomize.py").write_text(DEFAULT_HEADER)
            (self.folder / ".curlrc").write_text(f'header = "Authorization: Bearer {self.token_of(bot_id)}"\n')
            given |= {"PYTHONPATH": str(self.folder), "CURL_HOME": str(self.folder)}
        return kept | given

    def shell(self, sample: Sample, job_id: str = "") -> Any:
        """Runs a shell sample; its output is JSON."""
        script = self.written(sample, "sample.sh", job_id)
        done = subprocess.run(
            ["bash", str(script)],
            env=self.environment(sample),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def call(self, sample: Sample, neighbours: list[Sample], expression: str) -> Any:
        """Runs a sample's functions: the value of an expression, after the samples around it and this one."""
        outside = self.folder / "outside.py"
        outside.write_text(OUTSIDE)
        files = [str(self.written(one)) for one in (*neighbours, sample)]
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, str(outside), *files, expression],
            env=self.environment(sample), capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0 and "\nANSWER " in done.stdout, done.stdout + done.stderr
        return json.loads(done.stdout.rpartition("\nANSWER ")[2])

    def run_until(self, command: list[str], environment: dict[str, str], states: list[str]) -> None:
        """Runs a program that never ends until the jobs are in these states."""
        log = self.folder / "output.txt"
        with log.open("w") as output:
            process = subprocess.Popen(
                command, env=environment, cwd=self.folder, stdout=output, stderr=output, start_new_session=True
            )
            try:
                ends_at = time.monotonic() + PATIENCE_SECONDS
                while self.states() != states:
                    said = log.read_text()[-2000:]
                    assert process.poll() is None and time.monotonic() < ends_at, f"{self.states()}\n{said}"
                    threading.Event().wait(0.05)
            finally:
                os.killpg(process.pid, 9)
                process.wait(PATIENCE_SECONDS)


__all__ = ["ROOT", "Scene"]
