"""What a browser process is told once, when it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MEBIBYTE = 1024 * 1024
# By Playwright's names. None of them changes what a crawler reads in a page.
NOT_LOADED = ("image", "media", "font", "texttrack", "manifest", "ping", "cspreport")


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What one page may use. Past a limit the page goes without: it is rendered with what it has."""

    max_requests: int = 500
    max_download_bytes: int = 50 * MEBIBYTE  # as transferred, all requests together
    settle_seconds: float = 10.0  # how long a page may keep the network busy after its document is there
    not_loaded: tuple[str, ...] = NOT_LOADED


@dataclass(frozen=True, slots=True)
class Options:
    chromium_path: str
    user_agent: str
    allowed_networks: tuple[str, ...]
    memory_limit_bytes: int
    limits: PageLimits


def options_of(fields: dict[str, Any]) -> Options:
    """From what `dataclasses.asdict` made of it, after a journey as JSON."""
    limits = PageLimits(**fields["limits"] | {"not_loaded": tuple(fields["limits"]["not_loaded"])})
    return Options(**fields | {"allowed_networks": tuple(fields["allowed_networks"]), "limits": limits})
