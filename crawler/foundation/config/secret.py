"""The SECRET_KEY that nobody had to set."""

from __future__ import annotations

import secrets

from crawler.foundation.config.loader import Config
from crawler.foundation.files import create_private


def ensure_secret_key(config: Config) -> str:
    """The configured key, else the one kept in CRAWLER_HOME, made on first use.

    Several processes may start at once: whoever links the file first decides.
    """
    if config.secret_key:
        return config.secret_key
    path = config.home / "secret_key"
    if not path.exists():
        config.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        create_private(path, secrets.token_urlsafe(48) + "\n")
    return path.read_text().strip()
