from __future__ import annotations

import signal
import sys
import time
import urllib.error
import urllib.request
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.cli.problems import fail
from crawler.cli.ready import load_django
from crawler.foundation.config import Config

if TYPE_CHECKING:
    from crawler.project.first_run import Credentials
    from crawler.project.supervisor import Supervisor

READY_SECONDS = 60


def up(workers: Annotated[int, typer.Option(min=0, max=64, help="Worker processes.")] = 1) -> None:
    """Start everything: server, scheduler and workers under one supervisor. Ctrl-C stops it."""
    config = load_django(migrated=False)
    from crawler.project import first_run, startup
    from crawler.project.migrations import apply_migrations, setup_lock
    from crawler.project.supervisor import Child, Supervisor

    startup.check_port(config)
    with setup_lock():
        apply_migrations()
        made = first_run.create_first_admin(config)
        first_run.refresh_addresses(config)
    log_file = config.home / "logs" / "crawlspace.log"
    log_file.parent.mkdir(exist_ok=True)
    children = [Child("server", ["serve"]), Child("scheduler", ["scheduler"])]
    children += [Child(f"worker {number}", ["worker"]) for number in range(1, workers + 1)]
    run(Supervisor(children, log_file, say), config, made)


def run(supervisor: Supervisor, config: Config, made: Credentials | None) -> None:
    stop_on_signals(supervisor)
    try:
        supervisor.start()
        wait_until_ready(supervisor, config)
        if not supervisor.stopping.is_set():
            print(welcome(config, made), flush=True)
        supervisor.watch()
    finally:
        say("stopping")
        supervisor.stop()
        say("stopped; nothing was lost, the next start goes on from here")


def stop_on_signals(supervisor: Supervisor) -> None:
    def asked(number: int, frame: FrameType | None) -> None:
        if supervisor.stopping.is_set():
            sys.exit("crawler: asked twice; leaving at once")
        supervisor.stopping.set()

    signal.signal(signal.SIGINT, asked)
    signal.signal(signal.SIGTERM, asked)


def wait_until_ready(supervisor: Supervisor, config: Config) -> None:
    server = supervisor.children[0]
    deadline = time.monotonic() + READY_SECONDS
    while not supervisor.stopping.wait(0.1):
        if is_ready(config):
            return
        if not server.running or time.monotonic() > deadline:
            lines = "\n  ".join(server.last_lines) or "(it printed nothing)"
            fail(f"the server did not start; its last lines:\n  {lines}")


def is_ready(config: Config) -> bool:
    host = f"[{config.bind_address}]" if ":" in config.bind_address else config.bind_address
    host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104 - where to ask, nothing is bound
    ask = urllib.request.Request(f"http://{host}:{config.port}/readyz", headers={"Host": probe_host(config)})
    try:
        with urllib.request.urlopen(ask, timeout=5) as answer:  # noqa: S310 - our own address
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def probe_host(config: Config) -> str:
    """A Host header that ALLOWED_HOSTS lets through."""
    first = config.allowed_hosts[0] if config.allowed_hosts else "localhost"
    return "localhost" if first == "*" else first.lstrip(".")


def welcome(config: Config, made: Credentials | None) -> str:
    from crawler.project.first_run import credentials_path

    lines = [
        "",
        f"Crawlspace runs on {config.base_url}",
        "",
        f"  dashboard   {config.base_url}/dashboard/",
        f"  admin       {config.base_url}{config.admin_path}",
        f"  API         {config.base_url}/api/v1/docs",
    ]
    if made:
        lines += [
            f"  log in as   {made.admin_user}",
            f"  password    {made.admin_password}",
            f"  API token   {made.api_token}",
            f"  bot         {made.bot_id}, token {made.bot_token}",
            "",
            "Try it:",
            f"  curl -H 'Authorization: Bearer {made.api_token}' {config.base_url}/api/v1/me",
            "",
            f"This is shown once; it is also in {credentials_path(config)} (only you can read it).",
        ]
    else:
        lines += ["", f"  {where_credentials_are(config)}"]
    return "\n".join([*lines, f"Logs: {config.home / 'logs' / 'crawlspace.log'}", "Ctrl-C stops everything.", ""])


def where_credentials_are(config: Config) -> str:
    from crawler.project.first_run import credentials_path

    path = credentials_path(config)
    if path.exists():
        return f"The first admin's password and token are in {path}"
    return "New password: crawler user password admin    New token: crawler token create"


def say(message: str) -> None:
    print(f"crawler: {message}", flush=True)
