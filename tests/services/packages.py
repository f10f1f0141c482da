"""Finds the servers' programs, installing Debian's packages when they are missing and we may."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


class Missing(Exception):
    """A server that cannot be had, and what to do about it."""


def postgres_programs() -> Path:
    """The folder with initdb and postgres, version 15 or newer."""
    return find_postgres() or install("postgresql", "PostgreSQL", find_postgres)


def redis_program() -> Path:
    return find_redis() or install("redis-server", "Redis", find_redis)


def find_postgres() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name))
    on_path = shutil.which("initdb")
    candidates = [*folders, *([Path(on_path).resolve().parent] if on_path else [])]
    return next((path for path in candidates if (path / "initdb").exists() and (path / "postgres").exists()), None)


def find_redis() -> Path | None:
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    return Path(found) if found else None


def install(package: str, name: str, find: object) -> Path:
    assert callable(find)
    command = apt_command()
    if command is None:
        raise Missing(f"{name} is missing and cannot be installed from here; as root: apt-get install {package}")
    print(f"tests: installing {package}", flush=True)
    keep_debian_from_starting_a_cluster()
    for step in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", package]):
        done = subprocess.run([*command, *step], capture_output=True, text=True, env=quiet_environment())
        if done.returncode and step[0] == "install":
            raise Missing(f"{name} is missing and apt-get install {package} failed: {last_line(done.stderr)}")
    found = find()
    if not isinstance(found, Path):
        raise Missing(f"{name} is missing although apt-get install {package} succeeded")
    return found


def apt_command() -> list[str] | None:
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    may = shutil.which("sudo") and not subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode
    return ["sudo", "-n", "--preserve-env=DEBIAN_FRONTEND,RUNLEVEL", "apt-get"] if may else None


def keep_debian_from_starting_a_cluster() -> None:
    """Debian's package makes and starts a server of its own; nobody asked for that one."""
    settings = Path("/etc/postgresql-common/createcluster.conf")
    if os.geteuid() == 0 and not settings.exists():
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("create_main_cluster = false\n")


def quiet_environment() -> dict[str, str]:
    """RUNLEVEL=1 keeps the packages' start scripts from starting services."""
    return os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}


def last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
