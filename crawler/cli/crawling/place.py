"""Where a crawl rests, and the lock that says whose it is.

With `--out` the folder holds everything: `crawl.sqlite3`, `archive/`, `logs/`. Without it the platform's own database
and archive are used. The lock is held by the command and its processes alike and ends with the last of them, however
they end; so whoever gets it knows that everybody who bore its mark is dead.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from crawler.cli.problems import FAILED, fail
from crawler.foundation.config import load

CANNOT_WRITE = 4
# The processes of a command that was killed notice it, save and end.
PATIENCE_SECONDS = 15.0


class Lock(NamedTuple):
    """`mark` begins the names of all who work under this lock."""

    file: int
    mark: str


def move_in(out: Path | None) -> Path:
    """Make the folder and point the settings at it. The folder of locks and logs."""
    if out is None:
        return load().home
    folder = out.expanduser().absolute()
    _make(folder)
    keep_settings()
    os.environ["CRAWLER_HOME"] = str(folder)
    os.environ["DATABASE_URL"] = f"sqlite:///{quote(str(folder))}/crawl.sqlite3"
    os.environ["REDIS_URL"] = ""  # a queue beside this database would be one more thing to carry along
    os.environ["ARCHIVE_URL"] = f"file://{quote(str(folder))}/archive"
    return folder


def keep_settings() -> None:
    """What settings.env of the platform's home says holds for a crawl in a folder of its own, too."""
    config = load()
    for name, origin in config.origins.items():
        if origin == "settings.env":
            os.environ[name] = config.texts[name]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        fail(f"cannot write to {folder}: it is not a folder", CANNOT_WRITE)
    except OSError as error:
        fail(f"cannot write to {folder}: {error.strerror}", CANNOT_WRITE)


def lock(path: Path, what: str) -> Lock:
    """Ours until we and all our processes are gone; `what` is named when it is somebody else's."""
    _make(path.parent)
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        fail(f"cannot write to {path.parent}: {error.strerror}", CANNOT_WRITE)
    _wait_for(file, path, what)
    return _signed(file)


def _wait_for(file: int, path: Path, what: str) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not _is_ours(file):
        owner = _read(file)[1]
        # A living command is not waited for; its orphans are.
        if _is_alive(owner) or time.monotonic() > until:
            fail(f"{what} by process {owner or 'unknown'}; wait for it or stop it (lock: {path})", FAILED)
        time.sleep(0.1)


def _is_ours(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        return False
    return True


def _read(file: int) -> tuple[str, int]:
    """The mark and the process that wrote it."""
    words = os.pread(file, 200, 0).decode(errors="replace").split()
    return (words[0], int(words[1])) if len(words) == 2 and words[1].isdigit() else ("", 0)


def _is_alive(process: int) -> bool:
    return process > 0 and Path(f"/proc/{process}").exists()


def _signed(file: int) -> Lock:
    mark = _read(file)[0] or f"crawl-{secrets.token_hex(6)}"
    text = f"{mark} {os.getpid()}\n".encode()
    try:
        os.ftruncate(file, 0)
        os.pwrite(file, text, 0)
    except OSError as error:
        fail(f"cannot write the lock file: {error.strerror}", CANNOT_WRITE)
    return Lock(file, mark)
