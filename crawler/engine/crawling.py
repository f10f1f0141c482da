"""A crawl while it is worked on: its rules, its gate, and the URLs that are known of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crawler.engine.contract import Batch, CrawlRules
from crawler.engine.gate import Gate
from crawler.engine.glance import Glance
from crawler.engine.known import KnownUrls
from crawler.engine.refusals import Reason, Refusal
from crawler.engine.scope import Scope
from crawler.fetch.politeness import Rules
from crawler.frontier.contract import DEFAULT_PRIORITY, MAY_PASS, Entry, Found
from crawler.web.hosts import canonical_domain
from crawler.web.links import Link
from crawler.web.urls import InvalidURL
from crawler.web.urls import url_hash as hash_of

PAGES_RESERVED: Final = 50
_PASSES: Final = frozenset(MAY_PASS)
TYPE_OF_TAG: Final = {"a": "hyperlink", "area": "hyperlink", "iframe": "frame", "frame": "frame", "refresh": "redirect"}


class Crawling:
    """`drop_params` are the query parameters that do not make another URL."""

    __slots__ = ("allowance", "drop_params", "gate", "glance", "is_spent", "known", "politeness", "rules", "scope")

    def __init__(self, rules: CrawlRules, drop_params: frozenset[str]) -> None:
        self.rules = rules
        self.drop_params = drop_params
        self.known = KnownUrls()
        self.glance = None if rules.store_outlinks else Glance(images_count=rules.store_images)
        self.allowance = 0  # pages of the budget that are set aside for us
        self.is_spent = False  # and there are no more to be had
        self.scope = Scope(
            seeds=rules.seeds,
            allowed_domains=rules.allowed_domains,
            url_patterns=rules.url_patterns,
            excluded_patterns=rules.excluded_patterns,
            max_depth=rules.max_depth,
        )
        self.gate = Gate(
            self.scope,
            user_agent=rules.user_agent,
            respect_robots=rules.respect_robots,
            respect_nofollow=rules.respect_nofollow,
            max_redirects=rules.max_redirects,
        )
        self.politeness = Rules(
            delay_seconds=rules.delay_seconds,
            per_host=rules.per_host,
            adaptive=None if rules.adaptive else False,
        )

    def covers(self, domain: str) -> bool:
        return self.scope.covers(domain)

    def identity(self, url: str) -> str:
        """The hash under which a URL is known. Raises InvalidURL."""
        return hash_of(url, drop_params=self.drop_params)

    def meet(
        self,
        url: str,
        entry: Entry,
        batch: Batch,
        now: float,
        *,
        nofollow: bool = False,
        page_refusal: Refusal | None = None,
        by: str = "link",
        priority: int | None = None,
    ) -> str | None:
        """Put a URL that is not known yet into the batch. Its hash, or None when it is no URL to speak of."""
        try:
            url_hash, domain = self.identity(url), canonical_domain(url)
        except InvalidURL:
            return None
        depth = entry.depth if by == "redirect" else entry.depth + 1
        key = (self.rules.id, url_hash)
        before = batch.found.get(key)
        if before is not None and (before.refusal is None or before.refusal not in _PASSES):
            return url_hash
        # Where a seed leads is what was asked for.
        is_seed = by == "redirect" and entry.depth == 0
        if by == "redirect" and entry.redirect_hops >= self.rules.max_redirects:
            page_refusal = Refusal(Reason.REDIRECT_LIMIT, f"more than {self.rules.max_redirects} redirects")
        refusal = page_refusal or self.gate.admit(url, domain, depth, now, nofollow=nofollow, is_seed=is_seed)
        batch.found[key] = Found(
            self.rules.id, url_hash, url, domain, depth,
            priority or (entry.priority if by == "redirect" else DEFAULT_PRIORITY), entry.url_hash or None, by,
            entry.redirect_hops + 1 if by == "redirect" else 0,
            refusal.reason.value if refusal else None, refusal.detail[:500] if refusal else None,
        )  # fmt: skip
        return url_hash

    def targets_of(
        self, links: tuple[Link, ...], entry: Entry, batch: Batch, now: float, page_refusal: Refusal | None
    ) -> tuple[list[int | str], list[str], list[str]]:
        """For each link where it leads, what it shows and its type (no types at all: every one is a hyperlink)."""
        young, get, targets, anchors, types = self.known.young.get, self.known.get, [], [], []
        plain = True
        for link in links:
            tag = link.tag
            if (tag == "link" and not link.is_page) or tag in ("source", "video", "audio"):
                continue
            target: int | str | None = young(link.url) or get(link.url)
            if target is None or target < 0:  # type: ignore[operator]  # numbers here
                target = self._judged(target, link, entry, batch, now, page_refusal)  # type: ignore[arg-type]
                if target is None:
                    continue
            targets.append(target)
            anchors.append(link.text)
            if tag != "a":
                plain = False
                types.append(TYPE_OF_TAG.get(tag) or ("canonical" if "canonical" in link.rel else "link"))
            else:
                types.append("hyperlink")
        return targets, anchors, [] if plain else types

    def _judged(
        self, number: int | None, link: Link, entry: Entry, batch: Batch, now: float, page_refusal: Refusal | None
    ) -> int | str | None:
        """A URL that is new, or was refused for the sake of a worse link than this one."""
        deepest = self.rules.max_depth
        too_deep = deepest is not None and entry.depth >= deepest
        if number is not None and (too_deep or page_refusal or link.nofollow):
            return -number
        by = "redirect" if link.tag == "refresh" else "link"
        return self.meet(link.url, entry, batch, now, nofollow=link.nofollow, page_refusal=page_refusal, by=by)

    def spend_one(self, reserve: Callable[[int, int], int]) -> bool:
        """One page of the budget, if there is a budget and if there is one left."""
        if self.rules.max_pages is None:
            return True
        if self.allowance <= 0:
            self.allow_more(reserve)
        self.allowance -= not self.is_spent
        return not self.is_spent

    def allow_more(self, reserve: Callable[[int, int], int]) -> None:
        self.allowance = reserve(self.rules.id, PAGES_RESERVED)
        self.is_spent = self.allowance <= 0

    def return_one(self) -> None:
        self.allowance += 1
        self.is_spent = False

    def learn(self, found: dict[tuple[int, str], Found], ids: dict[tuple[int, str], int]) -> None:
        """After a commit: what the batch found has numbers now."""
        for key, one in found.items():
            if key[0] == self.rules.id and (number := ids.get(key)) is not None:
                self.known.remember(one.url, -number if one.refusal in _PASSES else number)
