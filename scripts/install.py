"""Make .venv hold exactly what a lock file says, or say in one line why it cannot.

Standard library only: this runs before anything is installed.

    python scripts/install.py run     what the platform needs         (requirements.lock)
    python scripts/install.py dev     that, and the test tools        (requirements-dev.lock)
    python scripts/install.py bench   that, and the benchmarks' peers (requirements-bench.lock)

An install that was killed half-way leaves `.venv/installing` behind; pip cannot repair such an
environment reliably (a package may look installed and lack files), so the next run starts afresh.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
INSTALLING = VENV / "installing"
# Each includes the ones before it.
LOCKS = {
    "run": ROOT / "requirements.lock",
    "dev": ROOT / "requirements-dev.lock",
    "bench": ROOT / "requirements-bench.lock",
}


class Stop(Exception):
    """A reason to give up, worded for the person at the terminal."""


def main(kind: str) -> None:
    with (ROOT / ".venv.lock").open("w") as guard:
        wait_for_other_installs(guard)
        if installed(kind):
            return
        if INSTALLING.exists() or not healthy():
            create_environment()
        INSTALLING.touch()
        install(LOCKS[kind])
        stamp(kind).write_text(fingerprint(kind))
        INSTALLING.unlink()


def wait_for_other_installs(guard: object) -> None:
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("Another install is running in this checkout; waiting for it.")
        fcntl.flock(guard, fcntl.LOCK_EX)


def installed(kind: str) -> bool:
    if INSTALLING.exists() or not PYTHON.exists():
        return False
    enough = list(LOCKS)[list(LOCKS).index(kind) :]
    return any(stamp(k).exists() and stamp(k).read_text() == fingerprint(k) for k in enough)


def fingerprint(kind: str) -> str:
    """Changes when the pins, the package's metadata, its place or the interpreter change."""
    parts = [LOCKS[kind].read_bytes(), (ROOT / "pyproject.toml").read_bytes()]
    parts += [str(ROOT).encode(), sys.version.encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def stamp(kind: str) -> Path:
    return VENV / f"installed-{kind}"


def healthy() -> bool:
    if not PYTHON.exists():
        return False
    probe = "import sys, pip; raise SystemExit(sys.version != sys.argv[1])"
    return not subprocess.run([PYTHON, "-c", probe, sys.version], capture_output=True).returncode


def create_environment() -> None:
    say("Creating the virtual environment in .venv")
    if VENV.exists():
        shutil.rmtree(VENV)
    done = subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, text=True)
    if done.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        raise Stop(
            "python -m venv does not work here; on Debian: apt-get install python3-venv"
            f" ({last_line(done.stdout + done.stderr)})"
        )


def install(lock: Path) -> None:
    say(f"Installing what {lock.name} lists (a minute or two the first time)")
    pip("--require-hashes", "--requirement", str(lock))
    pip("--no-deps", "--no-build-isolation", "--editable", str(ROOT))


def pip(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Stop(f"pip could not install: {last_line(done.stderr or done.stdout)}")


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["no message"])[-1]


def say(message: str) -> None:
    print(f"setup: {message}", flush=True)


if __name__ == "__main__":
    try:
        if sys.version_info < (3, 11):  # noqa: UP036 - this runs on whatever Python there is
            raise Stop(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
        main(sys.argv[1])
    except Stop as reason:
        sys.exit(f"setup: {reason}")
    except OSError as error:
        sys.exit(f"setup: cannot write {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit("setup: interrupted; the next run starts this step again")
