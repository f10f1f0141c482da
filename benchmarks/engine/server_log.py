"""Were we polite? The answer of the server's own log, which knows nothing of our clocks.

nginx writes when a request ended ($msec) and how long it took ($request_time), both in whole milliseconds cut off, so a
gap between the end of one request of a host and the start of its next one may seem up to a millisecond too short.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

FORMAT = "'$msec $request_time $server_addr $status $uri'"
ROUNDING_MS = 1


class Request(NamedTuple):
    """Times in milliseconds since 1970."""

    host: str
    began: int
    ended: int
    status: str
    path: str


@dataclass(slots=True)
class Manners:
    """What the log says of one crawl."""

    requests: int = 0
    hosts: int = 0
    too_early: int = 0  # gaps shorter than the delay
    at_once: int = 0  # requests that began before the one before had ended
    shortest_gap_ms: float = float("inf")
    examples: list[str] = field(default_factory=list)


def read(lines: Iterable[str]) -> Iterator[Request]:
    for line in lines:
        ended, took, host, status, path = line.rstrip("\n").split(" ", 4)
        end = _milliseconds(ended)
        yield Request(host, end - _milliseconds(took), end, status, path)


def _milliseconds(text: str) -> int:
    seconds, _, fraction = text.partition(".")
    return int(seconds) * 1000 + int(fraction)


def judge(requests: Iterable[Request], delay_seconds: float) -> Manners:
    """Every request counts, robots.txt as well."""
    by_host: dict[str, list[Request]] = {}
    for request in requests:
        by_host.setdefault(request.host, []).append(request)
    manners = Manners(hosts=len(by_host))
    for host, own in by_host.items():
        manners.requests += len(own)
        own.sort(key=lambda request: (request.began, request.ended))
        for before, after in pairwise(own):
            _compare(before, after, delay_seconds * 1000, host, manners)
    return manners


def _compare(before: Request, after: Request, delay_ms: float, host: str, manners: Manners) -> None:
    gap = after.began - before.ended
    manners.shortest_gap_ms = min(manners.shortest_gap_ms, gap)
    manners.at_once += gap < -ROUNDING_MS
    if gap < delay_ms - ROUNDING_MS:
        manners.too_early += 1
        if len(manners.examples) < 5:
            manners.examples.append(f"{host}: {before.path} ended {before.ended}, {after.path} began {gap} ms later")
