"""URL identity and link resolution, beside w3lib and the bare WHATWG parser.

Run as ``python -m benchmarks.web.bench_urls``; w3lib has to be installed. Every URL of a round is another one, as in a
crawl, so that nobody lives off a cache of whole URLs. The sides take turns, and the fastest round of each counts.
"""

import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from typing import Any

from crawler.web.hosts import canonical_domain
from crawler.web.urls import Resolver, normalize, url_hash

ROUNDS = 15
URL_COUNT = 2_000
NORMALIZE_TARGET = 5.0

# In the proportions of a mixed crawl: documentation, listings, shops, campaigns, other scripts, untidy spellings.
URL_SHAPES = (
    "https://docs.example.org/3/library/module-{0}.html",
    "https://docs.example.org/3/library/module-{0}.html#section-{0}",
    "https://docs.example.org/3/reference/chapter/{0}/",
    "https://www.example.com/news/2026/11/a-headline-of-some-length-{0}/",
    "https://www.example.com/category/shoes?page={0}",
    "https://shop.example.com/p/{0}?color=blue&size=42&sort=price",
    "https://shop.example.com/search?q=running%20shoes+{0}&brand=a%26b&page=2",
    "https://www.example.com/article/{0}?utm_source=newsletter&utm_medium=email&id={0}",
    "https://de.example.org/wiki/M%C3%BCnchen_{0}",
    "https://www.example.de/stra\u00dfe/gr\u00fc\u00dfe-{0}",
    "https://b\u00fccher.example/suche/{0}?q=caf\u00e9&n=1",
    "HTTP://Www.Example.COM:80/a/./b/../{0}?b=2&a=1&",
)
HREF_SHAPES = (
    "module-{0}.html",
    "../reference/chapter-{0}.html",
    "#section-{0}",
    "../../index-{0}.html#top",
    "/3/whatsnew/{0}.html",
    "/wiki/Help:Page_{0}",
    "https://www.example.com/article/{0}",
    "?page={0}",
    "M%C3%BCnchen_{0}",
    "/search?q={0}&lang=en",
)
PAGE = "https://docs.example.org/3/library/index.html"


def run() -> list[dict[str, Any]]:
    """One figure per measured function: microseconds per call, calls per second, and the ratio to its peer."""
    from ada_url import join_url
    from w3lib.url import canonicalize_url

    urls = _filled(URL_SHAPES)
    hrefs = _filled(HREF_SHAPES)
    resolver = Resolver(PAGE)
    seconds = _fastest(
        {
            "normalize": (normalize, urls),
            "w3lib.canonicalize_url": (canonicalize_url, urls),
            "url_hash": (url_hash, urls),
            "canonical_domain": (canonical_domain, urls),
            "Resolver": (resolver, hrefs),
            "ada_url.join_url": (lambda href: join_url(PAGE, href), hrefs),
        }
    )
    peers = {"normalize": ("w3lib.canonicalize_url", NORMALIZE_TARGET), "Resolver": ("ada_url.join_url", None)}
    return [_figure(name, seconds, *peers.get(name, (None, None))) for name in seconds]


def _filled(shapes: Sequence[str]) -> list[str]:
    return [shape.format(number) for number, shape in enumerate(islice(cycle(shapes), URL_COUNT))]


def _fastest(sides: dict[str, tuple[Callable[[str], str], list[str]]]) -> dict[str, float]:
    fastest = dict.fromkeys(sides, float("inf"))
    for _ in range(ROUNDS):
        for name, (function, texts) in sides.items():
            fastest[name] = min(fastest[name], _seconds_per_call(function, texts))
    return fastest


def _seconds_per_call(function: Callable[[str], str], texts: list[str]) -> float:
    started = time.perf_counter()
    for text in texts:
        function(text)
    return (time.perf_counter() - started) / len(texts)


def _figure(name: str, seconds: dict[str, float], peer: str | None, target: float | None) -> dict[str, Any]:
    ratio = seconds[peer] / seconds[name] if peer else None
    met = None if ratio is None or target is None else ratio >= target
    microseconds = seconds[name] * 1e6
    return {
        "name": name,
        "microseconds": round(microseconds, 3),
        "per_second": round(1e6 / microseconds),
        "peer": peer,
        "times_as_fast": ratio and round(ratio, 2),
        "target": target,
        "met": met,
    }


def _line(figure: dict[str, Any]) -> str:
    line = f"{figure['name']:24} {figure['microseconds']:8.3f} µs {figure['per_second']:>12,}/s"
    if figure["peer"]:
        line += f"   {figure['times_as_fast']}× {figure['peer']}"
    if figure["target"]:
        line += f" (target {figure['target']}×: {'met' if figure['met'] else 'MISSED'})"
    return line


if __name__ == "__main__":
    for each in run():
        print(_line(each))
