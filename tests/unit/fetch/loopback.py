"""A fetcher that may reach this machine, and what tests say about its outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from typing import Any

from crawler.fetch.client import Fetcher
from crawler.fetch.guard import Guard
from crawler.fetch.outcome import Failure, Response
from tests.conformance.scripted_server import Step

LOOPBACK = Guard([ip_network("127.0.0.0/8"), ip_network("::1")])


@contextmanager
def loopback_fetcher(**options: Any) -> Iterator[Fetcher]:
    fetcher = Fetcher(LOOPBACK, user_agent="crawlspace-test/1", **options)
    try:
        yield fetcher
    finally:
        fetcher.close()


def answer(headers: str = "", body: bytes = b"") -> Step:
    return {"send": f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body}


def page_of(outcome: Response | Failure) -> Response:
    assert isinstance(outcome, Response), outcome
    return outcome


def failure_of(outcome: Response | Failure) -> Failure:
    assert isinstance(outcome, Failure), outcome
    return outcome
