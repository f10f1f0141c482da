"""The frontier in Redis alone. A put or a settle is exact and atomic for each URL, from any number of processes.

Redis keeps what this contract gives back. What only people ask for (where a URL was found, an error's text) it does not
keep; the database does. How long anything lives is the server's persistence. Beside the database use mirrored.py.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from redis import Redis

from crawler.frontier.contract import MAY_PASS, Entry, Found, KeepsNoCopy, Put, Settled, Stats, distinct
from crawler.frontier.lua import NEXT_DUE, TAKE
from crawler.frontier.lua import frontier as lua
from crawler.frontier.scripting import DEFAULT_PREFIX, Scripts, entries_of, parts, terms_text

NEW, AGAIN = 1, 2


class RedisDataLost(Exception):
    """URLs are queued of which Redis no longer knows anything: it was emptied in part."""


class RedisFrontier(KeepsNoCopy):
    """`client` answers in bytes, and should not repeat a call by itself: the second time nothing of a put is new."""

    def __init__(self, client: Redis, prefix: str = DEFAULT_PREFIX) -> None:
        counting = {"put": lua.PUT, "settle": lua.SETTLE, "stats": lua.STATS}
        texts = {name: lua.COUNTING + text for name, text in counting.items()}
        self._scripts = Scripts(client, prefix, texts | {"take": TAKE, "next_due": NEXT_DUE})

    def put(self, found: Iterable[Found], now: float) -> Put:
        wanted = list(distinct(found).values())
        calls = ([[_found(one) for one in part], MAY_PASS] for part in parts(wanted))
        answers = [pair for text in self._scripts.run_each("put", calls) for pair in json.loads(text)]
        ids = {(one.crawl_id, one.url_hash): number for one, (number, _) in zip(wanted, answers, strict=True)}
        fresh = [one for one, (_, outcome) in zip(wanted, answers, strict=True) if outcome == NEW]
        again = [one for one, (_, outcome) in zip(wanted, answers, strict=True) if outcome == AGAIN]
        added = fresh + again
        return Put(ids, added, Counter(one.domain for one in added if one.refusal is None), again)

    def take(
        self, domain: str, crawls: Collection[int], limit: int, now: float, *, skip: Collection[int] = ()
    ) -> list[Entry]:
        answer = self._scripts.run("take", [domain, list(crawls), limit, now, [str(number) for number in skip], False])
        if answer is None:
            raise RedisDataLost(domain)
        return entries_of(domain, answer)

    def settle(self, settled: Sequence[Settled], now: float) -> None:
        self._scripts.run_each("settle", ([_settled(one) for one in part] for part in parts(settled)))

    def next_due(self, domain: str, crawls: Collection[int]) -> float | None:
        answer = self._scripts.run("next_due", [domain, list(crawls), False])
        return float(answer) if answer else None

    def stats(self, crawl_id: int | None = None, *, now: float) -> Stats:
        counts: Counter[tuple[str, str]] = Counter()
        delayed = 0
        for fields, late in self._scripts.run("stats", [False if crawl_id is None else crawl_id, now]):
            delayed += late
            for field, number in zip(fields[::2], fields[1::2], strict=True):
                kind, _, name = field.decode().partition(" ")
                counts[kind, name] += int(number)
        return _stats(counts, delayed)


def _found(one: Found) -> list[Any]:
    terms = terms_text(one.priority, one.depth, one.redirect_hops, one.url_hash, one.url)
    return [one.crawl_id, one.url_hash, one.domain, one.priority, terms, one.refusal or False]


def _settled(one: Settled) -> list[Any]:
    due = False if one.next_crawl_after is None else one.next_crawl_after
    return [str(one.id), one.status, one.refusal or False, one.failure_count, due, one.attempts]


def _stats(counts: Counter[tuple[str, str]], delayed: int) -> Stats:
    def of(kind: str) -> dict[str, int]:
        return {name: number for (each, name), number in counts.items() if each == kind}

    by_status, by_priority = of("status"), {int(name): number for name, number in of("priority").items()}
    waiting = by_status.get("pending", 0)
    return Stats(sum(by_status.values()), by_status, by_priority, of("domain"), waiting - delayed, delayed)
