"""The SECRET_KEY that nobody had to set."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from crawler.foundation.config.loader import Config


def ensure_secret_key(config: Config) -> str:
    """The configured key, else the one kept in CRAWLER_HOME, made on first use.

    Several processes may start at once: whoever links the file first decides.
    """
    if config.secret_key:
        return config.secret_key
    path = config.home / "secret_key"
    if not path.exists():
        config.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create(path)
    return path.read_text().strip()


def _create(path: Path) -> None:
    draft = path.with_name(f"secret_key.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(48) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
