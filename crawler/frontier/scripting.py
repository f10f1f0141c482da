"""Calling the scripts in lua/, and how a URL is written in Redis."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from redis import Redis

from crawler.frontier.contract import Entry
from crawler.frontier.lua import SHARED

DEFAULT_PREFIX = "frontier:"
ENTRIES_PER_CALL = 2_000  # Redis does nothing else while a script runs: about ten milliseconds

Item = TypeVar("Item")


class Scripts:
    """Scripts by name. Several calls of one script share a round trip; each is atomic by itself."""

    def __init__(self, client: Redis, prefix: str, texts: dict[str, str]) -> None:
        self._client, self._prefix = client, prefix
        self._scripts = {name: client.register_script(SHARED + text) for name, text in texts.items()}

    def run(self, name: str, given: Any) -> Any:
        return self._scripts[name](keys=[self._prefix], args=[_json(given)])

    def run_each(self, name: str, given: Iterable[Any]) -> list[Any]:
        """The first call alone, so that Redis has the script; the others together."""
        rest = iter(given)
        answers = [self.run(name, one) for one in islice(rest, 1)]
        with self._client.pipeline(transaction=False) as pipeline:
            for one in rest:
                pipeline.evalsha(self._scripts[name].sha, 1, self._prefix, _json(one))
            return answers + pipeline.execute()


def parts(items: Sequence[Item], size: int = ENTRIES_PER_CALL) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def terms_text(priority: int, depth: int, redirect_hops: int, url_hash: str, url: str) -> str:
    return f"{priority} {depth} {redirect_hops} {url_hash} {url}"


def url_text(entry: Entry) -> str:
    terms = terms_text(entry.priority, entry.depth, entry.redirect_hops, entry.url_hash, entry.url)
    return f"{entry.crawl_count} {entry.failure_count} {terms}"


def entries_of(domain: str, answer: bytes) -> list[Entry]:
    """What TAKE answers."""
    return [_entry(domain, line) for line in answer.decode().split("\n")] if answer else []


def _entry(domain: str, line: str) -> Entry:
    number, crawl, visits, failures, priority, depth, hops, url_hash, url = line.split(" ", 8)
    return Entry(
        int(number), int(crawl), url_hash, url, domain, int(depth), int(priority), int(visits), int(failures), int(hops)
    )  # fmt: skip


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
