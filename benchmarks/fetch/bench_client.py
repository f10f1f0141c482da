"""CPU time per fetched page, beside aiohttp on uvloop, with 1, 8 and 64 requests in flight.

Run as ``python -m benchmarks.fetch.bench_client``; aiohttp, uvloop and nginx have to be installed. nginx serves
pages of 35 KB on loopback, on the first core; the clients run in this process on the last one. What counts is this
process's CPU time, the kernel's part included, not how long it took. The sides take turns, and the best round of
each counts.
"""

import asyncio
import ipaddress
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crawler.fetch.client import Fetcher
from crawler.fetch.guard import Guard
from crawler.fetch.outcome import Request, Response

ROUNDS = 5
PAGES = 2_000
FILES = 200
PAGE_BYTES = 35_000
IN_FLIGHT = (1, 8, 64)

NGINX = """
daemon off; master_process off; error_log stderr crit; pid {folder}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; keepalive_requests 1000000; default_type text/html;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}/pages; }}
}}
"""


def run() -> list[dict[str, Any]]:
    """One figure for each number in flight: microseconds of CPU per page on either side, and their ratio."""
    with served_pages() as urls, pinned_to_last_core():
        return [_figure(in_flight, urls) for in_flight in IN_FLIGHT]


def _figure(in_flight: int, urls: list[str]) -> dict[str, Any]:
    sides: dict[str, Callable[[list[str], int], int]] = {"crawlspace": fetch_all, "aiohttp": fetch_all_by_aiohttp}
    best = dict.fromkeys(sides, float("inf"))
    for _ in range(ROUNDS):
        for name, side in sides.items():
            best[name] = min(best[name], _cpu_seconds(side, urls, in_flight))
    ours, theirs = (best[name] / PAGES * 1e6 for name in sides)
    return {
        "in_flight": in_flight,
        "microseconds": round(ours, 1),
        "aiohttp_microseconds": round(theirs, 1),
        "times_as_fast": round(theirs / ours, 2),
    }


def _cpu_seconds(side: Callable[[list[str], int], int], urls: list[str], in_flight: int) -> float:
    started = time.process_time()
    received = side(urls, in_flight)
    spent = time.process_time() - started
    if received < PAGES * PAGE_BYTES:
        raise SystemExit(f"only {received} bytes came")
    return spent


def fetch_all(urls: list[str], in_flight: int) -> int:
    fetcher = Fetcher(Guard([ipaddress.ip_network("127.0.0.0/8")]), user_agent="benchmark")
    waiting = iter(urls)
    received = 0
    for _, url in zip(range(in_flight), waiting, strict=False):
        fetcher.start(Request(url), url)
    while fetcher.in_flight:
        for _, outcome in fetcher.wait(10):
            received += len(outcome.body) if isinstance(outcome, Response) else 0
            if (url := next(waiting, "")) != "":
                fetcher.start(Request(url), url)
    fetcher.close()
    return received


def fetch_all_by_aiohttp(urls: list[str], in_flight: int) -> int:
    import aiohttp
    import uvloop

    async def everything() -> int:
        connector = aiohttp.TCPConnector(limit=in_flight)
        jar = aiohttp.DummyCookieJar()
        async with aiohttp.ClientSession(connector=connector, cookie_jar=jar, auto_decompress=False) as session:
            waiting = iter(urls)
            return sum(await asyncio.gather(*(one_after_another(session, waiting) for _ in range(in_flight))))

    async def one_after_another(session: Any, waiting: Iterator[str]) -> int:
        received = 0
        for url in waiting:
            async with session.get(url, allow_redirects=False) as response:
                received += len(await response.read())
        return received

    return int(uvloop.run(everything()))


@contextmanager
def served_pages() -> Iterator[list[str]]:
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        raise SystemExit("nginx is not installed")
    with tempfile.TemporaryDirectory() as folder:
        paths = _written_pages(Path(folder, "pages"))
        port = _free_port()
        Path(folder, "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        process = subprocess.Popen(["taskset", "-c", "0", nginx, "-c", f"{folder}/nginx.conf"])
        try:
            _wait_for(port)
            yield [f"http://127.0.0.1:{port}/{paths[number % FILES]}" for number in range(PAGES)]
        finally:
            process.terminate()
            process.wait()


def _written_pages(folder: Path) -> list[str]:
    folder.mkdir()
    folder.parent.chmod(0o755)
    for number in range(FILES):
        text = "".join(f'<li><a href="page-{link}.html">page {link} of {number}</a></li>\n' for link in range(900))
        (folder / f"page-{number}.html").write_text(text[:PAGE_BYTES].ljust(PAGE_BYTES))
    return [f"page-{number}.html" for number in range(FILES)]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("nginx does not start")


@contextmanager
def pinned_to_last_core() -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _line(figure: dict[str, Any]) -> str:
    return (
        f"{figure['in_flight']:>3} in flight {figure['microseconds']:8.1f} µs a page"
        f"   aiohttp {figure['aiohttp_microseconds']:8.1f} µs   {figure['times_as_fast']}×"
    )


if __name__ == "__main__":
    for each in run():
        print(_line(each))
