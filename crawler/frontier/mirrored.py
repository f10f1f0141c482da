"""The frontier in the database, with the URLs that wait also in Redis, where they are quicker to take.

The database is the record: what a batch changes is one transaction there, and dedup is exact there. When it is
committed, the same change is applied to the queues in Redis. The transaction gives each change of a domain a number
(its step), so a queue that has missed one is known, and built anew from the record:

    killed between commit and Redis   the queue misses a step: seen by the domain's next claim
    Redis emptied, or set back        the queue does not bear our mark: seen by the next take
    the database set back             the queue meets a step again, or is ahead: seen then, and by the next claim
    Redis away                        the record answers; the queues are judged when Redis is back

So Redis can lose anything at any time, and costs at most the time to read the pending URLs of a domain again.
"""

from __future__ import annotations

import itertools
import logging
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from redis import RedisError
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier.contract import Entry, Found, Put, Settled, Stats
from crawler.frontier.redis_queue import Change, Pending, QueueNotOurs, RedisQueue
from crawler.frontier.sql import SqlFrontier
from crawler.frontier.steps import Steps

ROWS_PER_READ = 2_000
AWAY_SECONDS = 5.0  # how long Redis is left alone after it failed

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class MirroredFrontier:
    """`on_commit` runs a function after the caller's transaction is committed, and drops it when it is rolled back.

    Put and settle belong into a transaction. Take and next_due see what was committed. `on_claim` has to be told which
    domains the caller works on from now on; it is what notices steps that others could not finish.
    """

    def __init__(
        self,
        record: SqlFrontier,
        queue: RedisQueue,
        steps: Steps,
        on_commit: Callable[[Callable[[], None]], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.record, self._queue, self._steps = record, queue, steps
        self._on_commit, self._clock = on_commit, clock
        self._marks: dict[str, str] = {}  # domains whose queues we trust, and what they bear for that
        self._names = (f"{me}:{number}" for me in [secrets.token_hex(8)] for number in itertools.count())
        self._away_until = float("-inf")

    def put(self, found: Iterable[Found], now: float) -> Put:
        put = self.record.put(found, now)
        changes: dict[str, Change] = {}
        again = {put.ids[one.crawl_id, one.url_hash] for one in put.again}
        for one in put.added:
            number = put.ids[one.crawl_id, one.url_hash]
            if one.refusal is None and number not in again:
                _change(changes, one.domain).fresh.append(_fresh_entry(number, one))
        for row in self.record.rows(again) if again else ():
            _change(changes, row.entry.domain).again.append(row.entry)
        self._follow(changes)
        return put

    def settle(self, settled: Sequence[Settled], now: float) -> None:
        self.record.settle(settled, now)
        changes: dict[str, Change] = {}
        retried = [one.id for one in settled if one.status == "pending"]
        gone = [one.id for one in settled if one.status != "pending"]
        for number, crawl, domain in self.record.places(gone) if gone else ():
            _change(changes, domain).gone.setdefault(crawl, []).append(str(number))
        for row in self.record.rows(retried) if retried else ():
            _change(changes, row.entry.domain).retried.append((row.entry, row.next_crawl_after))
        self._follow(changes)

    def _follow(self, changes: dict[str, Change]) -> None:
        """Number the changes now, apply them after the commit."""
        if not changes:
            return
        for domain, step in self._steps.advance(changes).items():
            changes[domain].step = step
        self._on_commit(partial(self._apply, [change for change in changes.values() if change.step]))

    def _apply(self, changes: list[Change]) -> None:
        for change in changes:
            if (mark := self._marks.get(change.domain)) is not None:
                change.marks = (mark, next(self._names))
                self._marks[change.domain] = change.marks[1]
        with suppress(RedisError):  # then the queue does not bear the mark that we look for
            self._call(lambda: self._queue.apply(changes))

    def take(
        self, domain: str, crawls: Collection[int], limit: int, now: float, *, skip: Collection[int] = ()
    ) -> list[Entry]:
        try:
            return self._asked(domain, lambda mark: self._queue.take(domain, crawls, limit, now, skip, mark))
        except (RedisError, QueueNotOurs):
            return self.record.take(domain, crawls, limit, now, skip=skip)

    def next_due(self, domain: str, crawls: Collection[int]) -> float | None:
        try:
            return self._asked(domain, lambda mark: self._queue.next_due(domain, crawls, mark))
        except (RedisError, QueueNotOurs):
            return self.record.next_due(domain, crawls)

    def stats(self, crawl_id: int | None = None, *, now: float) -> Stats:
        return self.record.stats(crawl_id, now=now)

    def on_claim(self, domains: Iterable[str]) -> None:
        """These are ours from now on. Queues that miss something are built anew when they are asked for."""
        names = list(domains)
        self._forget(names)
        with suppress(RedisError):  # the record answers meanwhile
            self._adopt(names)

    def on_release(self, domains: Iterable[str]) -> None:
        self._forget(domains)

    def changed_elsewhere(self, domains: Iterable[str]) -> None:
        """The record was written by other means, in this transaction: the queues of these domains are built anew."""
        self._on_commit(partial(self._drop, list(self._steps.advance(domains))))

    def _drop(self, domains: list[str]) -> None:
        self._forget(domains)
        with suppress(RedisError):  # the step that it missed tells the next claim
            self._call(lambda: self._queue.drop(domains))

    def _asked(self, domain: str, ask: Callable[[str], Answer]) -> Answer:
        """What the queue says. One that is not as we left it is compared with the record first."""
        if (mark := self._marks.get(domain)) is not None:
            try:
                return self._call(partial(ask, mark))
            except QueueNotOurs:
                self._forget([domain])
        if not self._adopt([domain]):
            self._rebuild(domain)
        return self._call(partial(ask, self._marks[domain]))

    def _adopt(self, domains: list[str]) -> bool:
        """Have all these queues every step, and nothing lost? Those that have are ours."""
        wanted = [(name, step, next(self._names)) for name, step in self._steps.current(domains).items()]
        answers = self._call(partial(self._queue.adopt, wanted)) if wanted else []
        self._marks |= {name: mark for (name, _, mark), is_whole in zip(wanted, answers, strict=True) if is_whole}
        return answers.count(True) == len(domains)

    def _rebuild(self, domain: str) -> None:
        steps, mark = self._steps.current([domain]), next(self._names)
        if domain not in steps:
            raise QueueNotOurs(domain)
        log.info("queue built anew", extra={"domain": domain, "step": steps[domain]})
        if not self._call(lambda: self._queue.rebuild(domain, steps[domain], mark, self._pending(domain))):
            raise QueueNotOurs(domain)
        self._marks[domain] = mark

    def _pending(self, domain: str) -> Iterator[Pending]:
        after = (0, 0)
        while rows := self.record.pending_rows(domain, after, ROWS_PER_READ):
            yield [(row.entry, row.next_crawl_after) for row in rows]
            after = (rows[-1].entry.priority, rows[-1].entry.id)

    def _call(self, call: Callable[[], Answer]) -> Answer:
        """Ask Redis, unless it failed a moment ago."""
        if self._clock() < self._away_until:
            raise RedisConnectionError("left alone for a while")
        try:
            return call()
        except RedisError as error:
            log.warning("Redis cannot be used; the database answers", extra={"error": str(error)})
            self._away_until = self._clock() + AWAY_SECONDS
            raise

    def _forget(self, domains: Iterable[str]) -> None:
        for domain in domains:
            self._marks.pop(domain, None)


def _change(changes: dict[str, Change], domain: str) -> Change:
    if domain not in changes:
        changes[domain] = Change(domain)
    return changes[domain]


def _fresh_entry(number: int, one: Found) -> Entry:
    return Entry(
        number, one.crawl_id, one.url_hash, one.url, one.domain, one.depth, one.priority, 0, 0, one.redirect_hops
    )  # fmt: skip
