"""HTTP header values as Python values: dates, waiting times, caching, content types, robots directives.

Every function takes a value as the server sent it and never raises: what makes no sense is None or is left out. Values
are cut at a few thousand characters before they are looked at. Where "now" matters it is a parameter.
"""

from __future__ import annotations

from datetime import datetime

from crawler.web.dates import http_date, loose_date
from crawler.web.headers.caching import CacheControl, cache_control, retry_after
from crawler.web.headers.media_types import MediaType, combined_content_type, content_type
from crawler.web.headers.robots_tag import x_robots_tag
from crawler.web.headers.sniffing import sniff

__all__ = [
    "CacheControl",
    "MediaType",
    "cache_control",
    "combined_content_type",
    "content_type",
    "parse_date",
    "retry_after",
    "sniff",
    "x_robots_tag",
]


def parse_date(value: str, *, lenient: bool = False, now: datetime | None = None) -> datetime | None:
    """The moment a date header names, in UTC; None when it is no date.

    Strict by default: the three forms of RFC 9110 and nothing else. ``lenient`` takes what servers write instead.
    ``now`` settles the century of two-digit years.
    """
    return loose_date(value, now) if lenient else http_date(value, now)
