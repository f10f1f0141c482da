r"""What a crawl covers: schemes, domains, URL patterns, depth. Made once from the crawl's configuration.

- ``allowed_domains``: an entry covers the domain and its subdomains, and every port unless it names one. ``www.`` says
  nothing (``www.cnn.com`` is ``cnn.com``, as everywhere); ``*.cnn.com`` and ``.cnn.com`` are ``cnn.com`` too. Without
  entries the crawl stays on the seeds' own domains, without their subdomains.
- ``url_patterns``, ``excluded_patterns``: regular expressions in RE2's syntax, searched anywhere in the URL as it is
  fetched (``\/news\/`` and ``.*\/news\/.*`` say the same). A URL needs one of the former, if there are any, and none
  of the latter. They come from users, so they run in linear time: no look-around, no backreferences. All patterns of
  a list are matched at once.
- A *seed* is what somebody asked for by name: it is in scope whatever its domain, depth and the URL patterns say, but
  not when it is excluded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

import re2

from crawler.engine.refusals import Reason, Refusal
from crawler.web.hosts import canonical_domain

DEFAULT_SCHEMES: Final = ("http", "https")
_DOMAINS_REMEMBERED: Final = 65_536
_PATTERN_MEMORY_BYTES: Final = 8 * 1024 * 1024


class InvalidPattern(ValueError):
    """A URL pattern that is not a regular expression, or is too large to run."""

    def __init__(self, pattern: str, reason: str) -> None:
        super().__init__(f"{pattern!r}: {reason}")
        self.pattern = pattern
        self.reason = reason


class Patterns:
    """A list of regular expressions, of which the first that is found in a text is asked for."""

    __slots__ = ("_patterns", "_set")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)
        self._set = _compiled(self._patterns)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def first_in(self, text: str) -> str | None:
        if not self._patterns:
            return None
        found = self._set.Match(text)
        return self._patterns[min(found)] if found else None


class Scope:
    """Does not change after it was made. Raises InvalidPattern and InvalidURL when it is made from nonsense."""

    __slots__ = (
        "_allowed", "_excluded", "_included", "_max_depth", "_prefixes", "_seed_domains", "covers",
    )  # fmt: skip

    def __init__(
        self,
        *,
        seeds: Iterable[str] = (),
        allowed_domains: Iterable[str] = (),
        url_patterns: Iterable[str] = (),
        excluded_patterns: Iterable[str] = (),
        max_depth: int | None = None,
        schemes: Collection[str] = DEFAULT_SCHEMES,
    ) -> None:
        self._allowed = frozenset(canonical_domain(_without_wildcard(entry)) for entry in allowed_domains)
        self._seed_domains = frozenset(canonical_domain(seed) for seed in seeds)
        self._included = Patterns(url_patterns)
        self._excluded = Patterns(excluded_patterns)
        self._max_depth = max_depth
        self._prefixes = tuple(f"{scheme}://" for scheme in schemes)
        self.covers = lru_cache(_DOMAINS_REMEMBERED)(self._covers)

    def refusal(self, url: str, domain: str, depth: int, *, is_seed: bool = False) -> Refusal | None:
        """``domain`` is the URL's canonical_domain. What depends on the link (depth) is said last."""
        if not url.startswith(self._prefixes):
            return Refusal(Reason.SCHEME, url[:32].partition(":")[0])
        if not is_seed and not self.covers(domain):
            return Refusal(Reason.DOMAIN, domain)
        if self._excluded and (pattern := self._excluded.first_in(url)) is not None:
            return Refusal(Reason.EXCLUDE, pattern)
        if is_seed:
            return None
        if self._included and self._included.first_in(url) is None:
            return Refusal(Reason.INCLUDE, "")
        if self._max_depth is not None and depth > self._max_depth:
            return Refusal(Reason.DEPTH, f"depth {depth}, at most {self._max_depth}")
        return None

    def names(self, domain: str) -> bool:
        """True for a domain that the configuration names itself, as opposed to one that it merely covers."""
        return domain in self._seed_domains or domain in self._allowed

    def _covers(self, domain: str) -> bool:
        if not self._allowed:
            return domain in self._seed_domains
        if any(above in self._allowed for above in _and_above(domain)):
            return True
        return any(above in self._allowed for above in _and_above(_without_port(domain)))


def _compiled(patterns: tuple[str, ...]) -> re2.Set:
    options = _options()
    together = re2.Set.SearchSet(options)
    for pattern in patterns:
        _check(pattern, options)
        together.Add(pattern)
    try:
        together.Compile()
    except re2.error:
        raise InvalidPattern(max(patterns, key=len), "too large together with the other patterns") from None
    return together


def _check(pattern: str, options: re2.Options) -> None:
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        told = error.args[0] if error.args else ""
        raise InvalidPattern(pattern, told.decode(errors="replace") if isinstance(told, bytes) else str(told)) from None
    except UnicodeEncodeError:
        raise InvalidPattern(pattern, "not Unicode text") from None


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _PATTERN_MEMORY_BYTES
    return options


def _without_wildcard(entry: str) -> str:
    return entry.strip().removeprefix("*").removeprefix(".")


def _and_above(domain: str) -> Iterable[str]:
    """``a.b.c``, ``b.c``, ``c``."""
    yield domain
    while dot := domain.find(".") + 1:
        domain = domain[dot:]
        yield domain


def _without_port(domain: str) -> str:
    host, colon, port = domain.rpartition(":")
    return host if colon and port.isdigit() else domain
