"""Links and images of real documentation pages, beside the bare lexbor parse of the same bytes.

Run as ``python -m benchmarks.web.bench_links``. The pages are those of Debian's openjdk-17-doc that have about 26 KB
and 140 links (benchmarks/corpora.py says where they come from). The sides take turns, and the fastest time of each for
a page counts.

The bare parse takes twice as long when the C library gives the memory of every tree back to the system, which depends
on chance. So that is switched off here where it can be: the figures are the strictest for us.
"""

import ctypes
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from benchmarks.corpora import OPENJDK, folder_of
from crawler.web import links
from crawler.web.links import resolving

SITE = "https://docs.example.org"
PAGE_BYTES = range(24_000, 28_500)
PAGE_LINKS = range(120, 161)
PAGE_COUNT = 50
ROUNDS = 25
TARGET = 1.6

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _KEPT_BYTES = -1, -3, 1 << 28


def run() -> list[dict[str, Any]]:
    """One figure per way: microseconds per page, and the ratio to the bare parse."""
    pages = _pages(folder_of(OPENJDK))
    _keep_freed_memory()
    ways: dict[str, Callable[[bytes, str], object]] = {
        "bare lexbor parse": lambda body, url: LexborHTMLParser(body),
        "extract, first sight of a site": links.extract,
        "extract": links.extract,
        "parse and from_tree": lambda body, url: links.from_tree(LexborHTMLParser(body), url),
    }
    seconds = _fastest(ways, pages)
    found = [links.extract(body, url) for url, body in pages]
    shared = {
        "pages": len(pages),
        "bytes_per_page": sum(len(body) for _, body in pages) // len(pages),
        "targets_per_page": sum(len(page.links) + len(page.images) for page in found) / len(pages),
    }
    return [_figure(name, seconds, len(pages)) | shared for name in seconds]


def _figure(name: str, seconds: dict[str, float], page_count: int) -> dict[str, Any]:
    ratio = seconds[name] / seconds["bare lexbor parse"]
    figure = {"name": name, "microseconds_per_page": seconds[name] / page_count * 1e6, "ratio_to_bare_parse": ratio}
    return figure | ({"target": TARGET, "met": ratio <= TARGET} if name == "extract" else {})


def _fastest(ways: dict[str, Callable[[bytes, str], object]], pages: list[tuple[str, bytes]]) -> dict[str, float]:
    fastest = {name: [float("inf")] * len(pages) for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            if "first sight" in name:
                resolving.directory.cache_clear()
            for number, (url, body) in enumerate(pages):
                started = time.perf_counter()
                way(body, url)
                fastest[name][number] = min(fastest[name][number], time.perf_counter() - started)
    return {name: sum(seconds) for name, seconds in fastest.items()}


def _pages(folder: Path) -> list[tuple[str, bytes]]:
    suitable = [
        (SITE + "/" + path.relative_to(folder).as_posix(), body)
        for path in sorted(folder.rglob("*.html"))
        if path.stat().st_size in PAGE_BYTES
        if (body := path.read_bytes()).count(b"<a ") in PAGE_LINKS
    ]
    if not suitable:
        sys.exit(f"bench_links: no pages of about 26 KB with about 140 links below {folder}")
    return suitable[:: max(len(suitable) // PAGE_COUNT, 1)][:PAGE_COUNT]


def _keep_freed_memory() -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)


def main() -> None:
    figures = run()
    print("{pages} pages of {bytes_per_page:,} bytes, {targets_per_page:.0f} targets each".format(**figures[0]))
    for figure in figures:
        verdict = f"  target {TARGET}: {'met' if figure['met'] else 'MISSED'}" if "met" in figure else ""
        print("{microseconds_per_page:8.1f} µs  {ratio_to_bare_parse:5.2f}x  {name}".format(**figure) + verdict)


if __name__ == "__main__":
    main()
