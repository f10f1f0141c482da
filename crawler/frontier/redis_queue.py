"""The pending URLs of a frontier whose record is elsewhere, in Redis: quick to take from, never the truth.

A queue belongs to a domain. It follows the numbered steps of the record, in whatever order they arrive. So it is always
known whether a queue has every step; one that has not, or that meets a step again, is built anew.

Whoever works on a domain leaves a mark on its queue and changes it with every step. A queue that does not bear the
mark was emptied, set back to an older state by a restart, or belongs to somebody else now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler.frontier.contract import Entry
from crawler.frontier.lua import NEXT_DUE, TAKE
from crawler.frontier.lua import queue as lua
from crawler.frontier.scripting import DEFAULT_PREFIX, ENTRIES_PER_CALL, Scripts, entries_of, parts, url_text

Pending = list[tuple[Entry, float | None]]  # URLs that wait, and when each is due, if not now


class QueueNotOurs(Exception):
    """The queue does not bear our mark, or misses what it should have."""


@dataclass(slots=True)
class Change:
    """What one step does to one domain. `marks` are the one we left on the queue and the one to leave now."""

    domain: str
    fresh: list[Entry] = field(default_factory=list)
    again: list[Entry] = field(default_factory=list)
    gone: dict[int, list[str]] = field(default_factory=dict)  # numbers by crawl
    retried: list[tuple[Entry, float | None]] = field(default_factory=list)  # and when it is due, if not now
    step: int = 0
    marks: tuple[str, str] | None = None


class RedisQueue:
    """`client` answers in bytes and does not repeat a call by itself (`open_queue` makes one)."""

    def __init__(self, client: Redis, prefix: str = DEFAULT_PREFIX) -> None:
        following = {"apply": lua.APPLY, "adopt": lua.ADOPT, "drop": lua.DROP}
        rebuilding = {"begin": lua.BEGIN, "fill": lua.FILL, "finish": lua.FINISH}
        texts = {name: lua.FOLLOWING + text for name, text in (following | rebuilding).items()}
        self._scripts = Scripts(client, prefix, texts | {"take": TAKE, "next_due": NEXT_DUE})

    def take(
        self, domain: str, crawls: Collection[int], limit: int, now: float, skip: Collection[int], mark: str
    ) -> list[Entry]:
        answer = self._scripts.run("take", [domain, list(crawls), limit, now, [str(number) for number in skip], mark])
        if answer is None:
            raise QueueNotOurs(domain)
        return entries_of(domain, answer)

    def next_due(self, domain: str, crawls: Collection[int], mark: str) -> float | None:
        answer = self._scripts.run("next_due", [domain, list(crawls), mark])
        if answer is None:
            raise QueueNotOurs(domain)
        return float(answer) if answer else None

    def apply(self, changes: Iterable[Change]) -> None:
        """Bring queues up to a step. One that was not there from the beginning waits to be built."""
        pieces = (piece for change in changes for piece in _pieces(change))
        self._scripts.run_each("apply", _calls(pieces))

    def adopt(self, wanted: Sequence[tuple[str, int, str]]) -> list[bool]:
        """For each (domain, step, mark): has the queue every step up to this one? Then it is marked."""
        return [answer == 1 for answer in self._scripts.run("adopt", [list(one) for one in wanted])]

    def rebuild(self, domain: str, step: int, mark: str, pending: Iterable[Pending]) -> bool:
        """Everything that waits after a step. `pending` may know more than that step; False when others began anew."""
        self._scripts.run("begin", [domain, step, mark])
        for some in pending:
            ready = _columns([entry for entry, due in some if due is None])
            delayed = [_line(entry, due) for entry, due in some if due is not None]
            if not self._scripts.run("fill", [domain, mark, ready, delayed]):
                return False
        return bool(self._scripts.run("finish", [domain, mark]))

    def drop(self, domains: Iterable[str]) -> None:
        self._scripts.run("drop", list(domains))


def open_queue(url: str, prefix: str = DEFAULT_PREFIX, timeout_seconds: float = 5.0) -> RedisQueue:
    once = Retry(NoBackoff(), 0)
    client = Redis.from_url(url, socket_timeout=timeout_seconds, socket_connect_timeout=timeout_seconds, retry=once)
    return RedisQueue(client, prefix)


def _pieces(change: Change) -> Iterator[list[Any]]:
    """A change as one or more calls; the step counts as made with the last of them."""
    fresh = [_columns(some) for some in parts(change.fresh)] or [{}]
    for some in fresh[:-1]:
        yield [change.domain, change.step, False, some, [], {}, [], False, False]
    again = [_line(entry) for entry in change.again]
    retried = [_line(entry, due) for entry, due in change.retried]
    marks = change.marks or (False, False)
    yield [change.domain, change.step, True, fresh[-1], again, change.gone, retried, *marks]


def _line(entry: Entry, due: float | None = None) -> list[Any]:
    return [str(entry.id), entry.crawl_id, url_text(entry), False if due is None else due]


def _columns(entries: Iterable[Entry]) -> dict[int, tuple[list[str], list[int], list[str]]]:
    """By crawl: numbers, priorities, texts."""
    by_crawl: dict[int, tuple[list[str], list[int], list[str]]] = {}
    for entry in entries:
        numbers, priorities, texts = by_crawl.setdefault(entry.crawl_id, ([], [], []))
        numbers.append(str(entry.id))
        priorities.append(entry.priority)
        texts.append(url_text(entry))
    return by_crawl


def _calls(pieces: Iterable[list[Any]]) -> Iterator[list[list[Any]]]:
    """Small changes share a call."""
    call: list[list[Any]] = []
    weight = 0
    for piece in pieces:
        call.append(piece)
        weight += 10 + sum(len(columns[0]) for columns in piece[3].values())
        if weight >= ENTRIES_PER_CALL:
            yield call
            call, weight = [], 0
    if call:
        yield call
