"""The pending URLs of a frontier whose record is elsewhere, in Redis: quick to take from, never the truth.

A queue belongs to a domain. It follows the numbered steps of the record, in whatever order they arrive, and each step
changes it once. So it is always known whether a queue has every step; one that has not is built anew.

Whoever works on a domain leaves a mark on its queue and changes it with every step. A queue that does not bear the
mark was emptied, set back to an older state by a restart, or belongs to somebody else now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from redis import Redis

from crawler.frontier import lua
from crawler.frontier.contract import Entry
from crawler.frontier.scripting import DEFAULT_PREFIX, ENTRIES_PER_CALL, Scripts, entries_of, parts, url_text

# What a queue's URL is: its number, its crawl, its text, and when it is due if not now.
Waiting = list[Any]


class QueueNotOurs(Exception):
    """The queue does not bear our mark, or misses what it should have."""


def waiting(entry: Entry, due: float | None = None) -> Waiting:
    return [str(entry.id), entry.crawl_id, url_text(entry), False if due is None else due]


@dataclass(slots=True)
class Change:
    """What one step does to one domain. `marks` are the one we left on the queue and the one to leave now."""

    domain: str
    fresh: list[Waiting] = field(default_factory=list)
    again: list[Waiting] = field(default_factory=list)
    gone: list[Waiting] = field(default_factory=list)  # number and crawl are enough
    retried: list[Waiting] = field(default_factory=list)
    step: int = 0
    marks: tuple[str, str] | None = None


class RedisQueue:
    """`client` answers in bytes and must not repeat a call by itself."""

    def __init__(self, client: Redis, prefix: str = DEFAULT_PREFIX) -> None:
        following = {"apply": lua.APPLY, "adopt": lua.ADOPT, "drop": lua.DROP}
        rebuilding = {"begin": lua.BEGIN, "fill": lua.FILL, "finish": lua.FINISH}
        texts = {name: lua.FOLLOWING + text for name, text in (following | rebuilding).items()}
        self._scripts = Scripts(client, prefix, texts | {"take": lua.TAKE, "next_due": lua.NEXT_DUE})

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
        """Bring queues up to a step. Nothing happens to a queue that has seen it, or that has to be built anew."""
        pieces = (piece for change in changes for piece in _pieces(change))
        self._scripts.run_each("apply", _calls(pieces))

    def adopt(self, wanted: Sequence[tuple[str, int, str]]) -> list[bool]:
        """For each (domain, step, mark): has the queue every step up to this one? Then it is marked."""
        return [answer == 1 for answer in self._scripts.run("adopt", [list(one) for one in wanted])]

    def rebuild(self, domain: str, step: int, mark: str, rows: Iterable[Sequence[Waiting]]) -> bool:
        """Everything that waits after a step. `rows` may know more than that step; False when others began anew."""
        self._scripts.run("begin", [domain, step, mark])
        for some in rows:
            if not self._scripts.run("fill", [domain, mark, some]):
                return False
        return bool(self._scripts.run("finish", [domain, mark]))

    def drop(self, domains: Iterable[str]) -> None:
        self._scripts.run("drop", list(domains))


def _pieces(change: Change) -> Iterator[list[Any]]:
    """A change as one or more calls; the step counts as made with the last of them."""
    others = [change.again, [one[:2] for one in change.gone], change.retried, *(change.marks or (False, False))]
    fresh = list(parts(change.fresh)) or [[]]
    for some in fresh[:-1]:
        yield [change.domain, change.step, False, some, [], [], [], False, False]
    yield [change.domain, change.step, True, fresh[-1], *others]


def _calls(pieces: Iterable[list[Any]]) -> Iterator[list[list[Any]]]:
    """Small changes share a call."""
    call: list[list[Any]] = []
    weight = 0
    for piece in pieces:
        call.append(piece)
        weight += 1 + sum(len(some) for some in piece if isinstance(some, list))
        if weight >= ENTRIES_PER_CALL:
            yield call
            call, weight = [], 0
    if call:
        yield call
