"""What is asked for. Everything that can be wrong with it is found here, before anything is loaded or made.

Two orders are one crawl when they cover the same pages and store the same of them: then the second takes up what the
first left. How fast and how many pages is not part of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from crawler.cli.problems import MISUSED, fail

NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Order:
    seeds: tuple[str, ...]
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    max_depth: int | None = None
    robots: bool = True
    outlinks: bool = True
    sitemaps: bool = False
    render: bool = False
    user_agent: str | None = None
    # How, not what:
    max_pages: int | None = None
    delay_seconds: float | None = None
    per_host: int | None = None
    timeout_seconds: float | None = None

    @property
    def identity(self) -> str:
        what = [
            sorted(self.seeds), sorted(self.allow), sorted(self.deny), sorted(self.domains), self.max_depth,
            self.robots, self.outlinks, self.sitemaps, self.render, self.user_agent,
        ]  # fmt: skip
        return sha256(json.dumps(what).encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """Unique for the identity, readable in lists."""
        return f"{self.title[:NAME_LENGTH]} #{self.identity}"

    @property
    def title(self) -> str:
        more = len(self.seeds) - 1
        return self.seeds[0] + (f" and {more} more" if more else "")

    def config(self) -> dict[str, Any]:
        """As crawls keep it; what was not asked for is left to the platform's defaults."""
        wanted = {
            "max_pages": self.max_pages,
            "max_depth": self.max_depth,
            "crawl_delay_ms": None if self.delay_seconds is None else self.delay_seconds * 1000,
            "per_host": self.per_host,
            "timeout_seconds": self.timeout_seconds,
            "user_agent": self.user_agent,
            "respect_robots_txt": self.robots,
            "store_outlinks": self.outlinks,
            "use_sitemaps": self.sitemaps,
            "render": self.render,
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def filters(self) -> dict[str, Any]:
        return {
            "allowed_domains": list(self.domains),
            "url_patterns": list(self.allow),
            "excluded_patterns": list(self.deny),
        }


def read_seeds(urls: Iterable[str], file: str | None) -> tuple[str, ...]:
    """From the command line and from a file (`-`: standard input), each once, as they are fetched."""
    from crawler.web.urls import InvalidURL, resolve

    found: dict[str, None] = {}
    for place, text in [*(("", url) for url in urls), *(_lines(file) if file else ())]:
        try:
            found[resolve(text, None)] = None
        except InvalidURL as error:
            fail(f"{place}{_why(text, error)}", MISUSED)
    if not found:
        fail("no URL to start from; name one, or a file of them with --seeds FILE", MISUSED)
    return tuple(found)


def _why(text: str, error: Exception) -> str:
    if "://" not in text and "." in text.split("/")[0] and " " not in text:
        return f"not a URL: {text!r} has no scheme; did you mean https://{text} ?"
    return str(error)


def _lines(file: str) -> Iterator[tuple[str, str]]:
    """One URL a line; empty lines and lines that begin with # are left out."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        fail(f"--seeds: cannot read {file}: {getattr(error, 'strerror', None) or error}", MISUSED)
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{file}, line {number}: ", line.strip()


def with_seed_domains(seeds: Iterable[str], domains: Iterable[str]) -> tuple[str, ...]:
    """Domains beside the seeds' own; none: the seeds' own, without their subdomains."""
    from crawler.web.hosts import canonical_domain

    extra = tuple(domains)
    return tuple(dict.fromkeys([*(canonical_domain(seed) for seed in seeds), *extra])) if extra else ()


def check(order: Order) -> None:
    """Patterns and domains are compiled once, to be told now what is wrong with them."""
    from crawler.engine.scope import InvalidPattern, Scope
    from crawler.foundation.config.parsers import header_text
    from crawler.web.urls import InvalidURL

    for option, patterns in (("--allow", order.allow), ("--deny", order.deny)):
        try:
            Scope(url_patterns=patterns)
        except InvalidPattern as error:
            fail(f"{option} {error.pattern!r} is not a regular expression we can use: {error.reason}", MISUSED)
    for domain in order.domains:
        try:
            Scope(allowed_domains=[domain])
        except InvalidURL as error:
            fail(f"--allow-domain {domain!r} is not a domain name: {error}", MISUSED)
    if order.user_agent is not None:
        try:
            header_text(order.user_agent)
        except ValueError as error:
            fail(f"--user-agent: {error}", MISUSED)
    if order.render:
        check_browser()


def check_browser() -> None:
    from crawler.fetch.browser.chromium import BrowserUnavailable, needed

    try:
        needed(None)
    except BrowserUnavailable as error:
        fail(f"--render: {error}")
