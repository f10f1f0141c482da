"""Sitemaps of 50,000 URLs: time and peak memory, beside ElementTree and ultimate-sitemap-parser.

Run as ``python -m benchmarks.web.bench_sitemaps``; ultimate-sitemap-parser has to be installed. The sides take turns,
and the fastest round counts. Memory is that of a process of its own for each side: how much its peak grew by importing
and reading, and the peak of the whole process with interpreter and the file itself.
"""

import gzip
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from xml.etree import ElementTree

ROUNDS = 4
URL_COUNT = 50_000
TARGET_SECONDS = 1.0
TARGET_MEGABYTES = 60
SITEMAP_URL = "https://www.example.com/sitemap.xml"
NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def ours(body: bytes) -> int:
    """Every entry looked at and let go, as a crawl does."""
    from crawler.web.sitemaps import parse

    return sum(1 for _ in parse(body, SITEMAP_URL))


def ours_kept(body: bytes) -> int:
    """Every entry kept in a list."""
    from crawler.web.sitemaps import parse

    return len(list(parse(body, SITEMAP_URL)))


def element_tree(body: bytes) -> int:
    """The standard library's tree, and four texts of every entry; nothing resolved, no dates read."""
    names = [NAMESPACE + name for name in ("loc", "lastmod", "changefreq", "priority")]
    return sum(1 for url in ElementTree.fromstring(body) if [url.findtext(name) for name in names])


def ultimate_sitemap_parser(body: bytes) -> int:
    """The library that many crawlers use for this."""
    from usp.tree import sitemap_from_str

    return sum(1 for _ in sitemap_from_str(body.decode()).all_pages())


SIDES: dict[str, Callable[[bytes], int]] = {
    "ours": ours,
    "ours, kept in a list": ours_kept,
    "ours, gzipped": ours,
    "ElementTree": element_tree,
    "ultimate-sitemap-parser": ultimate_sitemap_parser,
}


def body_for(name: str) -> bytes:
    """The sitemap, as this side reads it."""
    entries = [
        f"<url>\n<loc>https://www.example.com/catalog/category-{n % 97}/product-{n}.html?ref=map&amp;lang=en</loc>\n"
        f"<lastmod>2026-{n % 12 + 1:02}-{n % 28 + 1:02}T12:34:{n % 60:02}+00:00</lastmod>\n"
        f"<changefreq>weekly</changefreq>\n<priority>0.{n % 10}</priority>\n</url>\n"
        for n in range(URL_COUNT)
    ]
    body = f'<?xml version="1.0"?>\n<urlset xmlns="{NAMESPACE[1:-1]}">\n{"".join(entries)}</urlset>\n'.encode()
    return gzip.compress(body) if name.endswith("gzipped") else body


def run() -> list[dict[str, Any]]:
    """For each side: seconds, megabytes and the ratio of its time to ours."""
    bodies = {name: body_for(name) for name in SIDES}
    fastest = dict.fromkeys(SIDES, float("inf"))
    for _ in range(ROUNDS):
        for name, side in SIDES.items():
            started = time.perf_counter()
            if side(bodies[name]) != URL_COUNT:
                raise RuntimeError(f"{name} did not find every URL")
            fastest[name] = min(fastest[name], time.perf_counter() - started)
    return [_figure(name, fastest) for name in SIDES]


def _figure(name: str, fastest: dict[str, float]) -> dict[str, Any]:
    grown, peak = _memory_megabytes(name)
    is_ours = name.startswith("ours")
    return {
        "name": name,
        "seconds": round(fastest[name], 3),
        "grown_megabytes": grown,
        "peak_megabytes": peak,
        "times_our_time": round(fastest[name] / fastest["ours"], 2),
        "met": fastest[name] < TARGET_SECONDS and peak < TARGET_MEGABYTES if is_ours else None,
    }


def _memory_megabytes(name: str) -> tuple[float, float]:
    child = [sys.executable, "-m", "benchmarks.web.bench_sitemaps", name]
    with TemporaryFile() as file:
        file.write(body_for(name))
        file.seek(0)
        output = subprocess.run(child, stdin=file, capture_output=True, text=True, check=True).stdout
    grown, peak = output.split()
    return float(grown), float(peak)


def measure_memory(name: str) -> None:
    """In a process of its own, the sitemap on standard input."""
    body = sys.stdin.buffer.read()
    before = _peak_megabytes()
    SIDES[name](body)
    after = _peak_megabytes()
    print(round(after - before, 1), round(after, 1))


def _peak_megabytes() -> float:
    """Linux only. Not ru_maxrss, in which a child inherits the peak of the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _line(figure: dict[str, Any]) -> str:
    line = f"{figure['name']:24} {figure['seconds']:6.3f} s  {figure['times_our_time']:5.2f}× our time"
    line += f"   memory +{figure['grown_megabytes']:5.1f} MB, whole process {figure['peak_megabytes']:6.1f} MB"
    if figure["met"] is not None:
        targets = f"under {TARGET_SECONDS:g} s and {TARGET_MEGABYTES} MB"
        line += f"   target {targets}: {'met' if figure['met'] else 'MISSED'}"
    return line


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure_memory(sys.argv[1])
    else:
        for each in run():
            print(_line(each))
