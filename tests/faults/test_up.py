"""`crawler up` as a newcomer meets it, and with things in its way."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from tests.faults.platform import Platform, exists
from tests.plugin import ON_POSTGRES
from tests.services.servers import accepts, free_port

pytestmark = pytest.mark.postgresql


def wait_until(condition: object, what: str) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, f"still not: {what}"
        time.sleep(0.05)


def test_first_start_second_start_and_stop(platform: Platform) -> None:
    first = platform.up()
    path = platform.home / "credentials.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    made = platform.credentials
    assert set(made) == {
        "dashboard_url", "admin_url", "admin_user", "admin_password", "api_token", "bot_id", "bot_token",
    }  # fmt: skip
    for name in ("dashboard_url", "admin_url", "admin_user", "admin_password", "api_token"):
        assert made[name] in first.text, f"{name} is printed"
    curl = next(line for line in first.lines if line.strip().startswith("curl "))
    done = subprocess.run([*shlex.split(curl), "-s", "--fail"], capture_output=True, text=True, timeout=30)
    assert '"username": "admin"' in done.stdout
    assert sorted(process["kind"] for process in platform.processes()) == ["scheduler", "server", "worker"]
    pids = [process["pid"] for process in platform.processes()]
    began = time.monotonic()
    assert first.stop(signal.SIGINT) == 0
    assert time.monotonic() - began < 10
    assert not [pid for pid in pids if exists(pid)]

    platform.settings["PORT"] = str(free_port())
    moved = {name: str(value).replace(str(platform.port), platform.settings["PORT"]) for name, value in made.items()}
    platform.port = int(platform.settings["PORT"])
    second = platform.up()
    assert {name: str(value) for name, value in platform.credentials.items()} == moved
    assert made["admin_password"] not in second.text
    assert str(path) in second.text
    assert platform.ask("/api/v1/me").status == 200
    assert len(platform.processes()) == 3, "the first start signed out"


def test_health_and_readiness(platform: Platform) -> None:
    platform.up("--workers", "0")
    assert platform.ask("/healthz").json()["status"] == "alive"
    ready = platform.ask("/readyz")
    assert (ready.status, ready.json()["checks"]["database"]) == (200, "ok")


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stdout + done.stderr).strip().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("crawler: ")
    assert done.returncode in (1, 2)
    return lines[0]


def test_a_taken_port(platform: Platform) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", platform.port))
        other.listen()
        assert f"cannot listen on port {platform.port}" in one_line(platform.run("up"))
        assert platform.run("migrate").returncode == 0
        assert f"cannot listen on port {platform.port}" in one_line(platform.run("serve"))
    platform.up("--workers", "0")


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("mysql://x/y", "DATABASE_URL: 'mysql' is not supported"),
        ("postgresql://nobody@127.0.0.1:1/none", "cannot use the database postgresql://nobody@127.0.0.1:1/none"),
        ("sqlite:////nowhere/at/all.db", "cannot use the database sqlite:////nowhere/at/all.db: unable to open"),
    ],
)
@pytest.mark.parametrize("command", ["up", "serve", "worker", "scheduler", "migrate"])
def test_a_database_that_cannot_be_used(platform: Platform, url: str, complaint: str, command: str) -> None:
    platform.settings["DATABASE_URL"] = url
    assert complaint in one_line(platform.run(command))


def test_a_home_that_cannot_be_written(platform: Platform, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    platform.settings["CRAWLER_HOME"] = str(tmp_path / "file")
    assert f"cannot write to {tmp_path / 'file'}: " in one_line(platform.run("up"))


def test_a_malformed_setting(platform: Platform) -> None:
    platform.settings["PORT"] = "many"
    for command in ("up", "config", "migrate"):
        assert one_line(platform.run(command)).startswith("crawler: PORT: 'many' is not a whole number")


def test_a_database_that_is_newer_than_the_code(platform: Platform) -> None:
    assert platform.run("migrate").returncode == 0
    statement = "INSERT INTO django_migrations (app, name, applied) VALUES ('accounts', '0999_future', '2030-01-01')"
    if ON_POSTGRES:
        with psycopg.connect(platform.settings["DATABASE_URL"], autocommit=True) as connection:
            connection.execute(statement)
    else:
        subprocess.run(["python3", "-c", SQLITE, platform.home / "crawlspace.sqlite3", statement], check=True)
    for command in ("up", "serve", "migrate"):
        assert "is newer than this code (it has accounts.0999_future)" in one_line(platform.run(command))


SQLITE = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()"


def test_half_applied_migrations_are_completed(platform: Platform) -> None:
    manage = [platform.command[0], "manage.py", "migrate", "accounts", "0001", "-v0"]
    subprocess.run(manage, env=platform.environment, check=True, timeout=60)
    assert "lacks" in one_line(platform.run("serve"))
    platform.up("--workers", "0")
    assert platform.ask("/readyz").status == 200


def test_everything_ends_when_the_supervisor_is_killed(platform: Platform) -> None:
    running = platform.up()
    pids = [process["pid"] for process in platform.processes()]
    running.stop(signal.SIGKILL)
    wait_until(lambda: not [pid for pid in pids if exists(pid)], "the children ended")
    again = platform.up()
    assert platform.ask("/readyz").status == 200
    assert again.stop(signal.SIGTERM) == 0


@pytest.mark.parametrize("kind", ["scheduler", "server"])
def test_what_crashes_is_started_again(platform: Platform, kind: str) -> None:
    running = platform.up("--workers", "0")
    old = next(process["pid"] for process in platform.processes() if process["kind"] == kind)
    os.kill(old, signal.SIGKILL)
    running.wait_for(f"{kind} ended with code -9; starting it again in 1 s")

    def is_back() -> bool:
        try:
            return any(found["kind"] == kind and found["pid"] != old for found in platform.processes())
        except OSError:
            return False

    wait_until(is_back, f"a new {kind}")


def test_a_killed_server_leaves_nothing_behind(platform: Platform) -> None:
    assert platform.run("migrate").returncode == 0
    server = platform.start("serve")
    wait_until(lambda: accepts(platform.port), "the server listens")
    server.stop(signal.SIGKILL)
    wait_until(lambda: not accepts(platform.port), "the port is free")
