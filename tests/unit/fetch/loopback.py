"""A fetcher that may reach this machine, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from typing import Any

from crawler.fetch.client import Fetcher
from crawler.fetch.guard import Guard

LOOPBACK = Guard([ip_network("127.0.0.0/8"), ip_network("::1")])


@contextmanager
def loopback_fetcher(**options: Any) -> Iterator[Fetcher]:
    fetcher = Fetcher(LOOPBACK, user_agent="crawlspace-test/1", **options)
    try:
        yield fetcher
    finally:
        fetcher.close()
