"""Which API family a path belongs to."""

from __future__ import annotations

from enum import StrEnum


class Family(StrEnum):
    CRAWLS = "crawls"
    SOURCES = "sources"
    BOTS = "bots"


# The longest prefix wins, so it comes first.
PREFIXES = (("/api/v1/admin", Family.SOURCES), ("/api/crawl", Family.BOTS), ("/api", Family.CRAWLS))


def family_of(path: str) -> Family | None:
    """None for the pages that people look at."""
    for prefix, family in PREFIXES:
        if path == prefix or path.startswith(f"{prefix}/"):
            return family
    return None
