"""Numbers as people read them."""

from __future__ import annotations


def size(count: float) -> str:
    """`512 B`, `1.4 MB`: powers of 1000."""
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 1000:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.1f} TB"


def duration(seconds: float) -> str:
    """`0:07`, `12:34`, `3:25:00`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 page`, `2 pages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def rate(pages: int, seconds: float) -> float:
    return pages / seconds if seconds > 0 else 0.0


def without_name(why: str, domain: str) -> str:
    """Errors often begin with the name that is said already."""
    return why.removeprefix(f"{domain}: ")
