"""Many hosts at once, politely: 2,000 hosts on loopback addresses, each asked at most once a second.

    python -m benchmarks.engine.bench_broad [--quick] [--seconds N] [--hosts N]

nginx answers on every address 127.1.x.y from one core: small pages, each with links to the next 20 of its host, every
host's a little different. One worker on another core crawls them with a delay of one second, SQLite and archive and
links as always. What the core could do at most is measured first, the same with no delay. Pages a second are counted by
the server's log, in a window after all hosts have begun.

The server's log also says whether we were polite (server_log.py): after the end of a request no other request of that
host for a second, never two at once. Any violation makes the exit code 1.
"""

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine import server_log
from benchmarks.engine.crawls import Crawled, scratch_folder, worker
from benchmarks.engine.processes import cores
from benchmarks.engine.verdicts import HEADING, row, verdict
from benchmarks.engine.webserver import free_ports, serve

HOSTS, QUICK_HOSTS = 2000, 300
SECONDS, QUICK_SECONDS = 60, 10
DELAY_SECONDS = 1.0
# The same for both: a database that has grown costs both the same.
WARM_UP_SECONDS = 10
LINKS, WORDS = 20, 180
TARGET = 95
SERVER = """
  log_format manners {format};
  server {{
    listen {port} backlog=8192;
    default_type text/html;
    access_log {log} manners buffer=64k flush=1s;
    location = /robots.txt {{ default_type text/plain; return 200 "User-agent: *\\nDisallow: /private/\\n"; }}
{pages}
  }}
"""
PAGE = '    location = /p/{number}.html {{ return 200 "{body}"; }}'


@dataclass(frozen=True, slots=True)
class Broad:
    """One crawl of all hosts."""

    done: Crawled
    pages_per_second: float  # in the window, by the server's log
    manners: server_log.Manners
    server_busy: float  # share of its core


def site(pages: int) -> str:
    """Every page as nginx's own answer, in which it puts the host's address."""
    rng = random.Random(7)
    letters = "abcdefghijklmnoprstuvwz"
    words = ["".join(rng.choices(letters, k=rng.randint(3, 10))) for _ in range(4000)]
    return "\n".join(PAGE.format(number=number, body=_body(number, rng, words)) for number in range(pages))


def _body(number: int, rng: random.Random, words: list[str]) -> str:
    links = " ".join(f"<a href='/p/{target}.html'>{target}</a>" for target in range(number + 1, number + 1 + LINKS))
    text = " ".join(rng.choices(words, k=WORDS))
    return f"<!doctype html><title>{number} of $server_addr</title><p>$server_addr {text}</p><p>{links}</p>"


def addresses(count: int) -> list[str]:
    return [f"127.1.{number // 250 + 1}.{number % 250 + 1}" for number in range(count)]


def measure(hosts: Sequence[str], on: tuple[int, int], delay: float, warm_up: float, seconds: float) -> Broad:
    """Crawl for the warm-up, the window and a moment more."""
    for_server, for_worker = on
    wanted = frozenset(hosts)
    (port,) = free_ports(1)
    config = {"crawl_delay_ms": delay * 1000, "store_outlinks": True}
    spec = {
        "name": "broad", "seeds": [f"http://{host}:{port}/p/0.html" for host in hosts], "config": config,
        "seconds": warm_up + seconds + 3,
    }  # fmt: skip
    pages = round(warm_up + seconds + 3) + 50 if delay else 500
    with scratch_folder() as home, tempfile.TemporaryDirectory(prefix="crawlspace-log-") as logs:
        log = Path(logs) / "access.log"
        servers = SERVER.format(format=server_log.FORMAT, port=port, log=log, pages=site(pages))
        # Few events at a time: nginx reads the clock once for all of them.
        with serve(servers, [for_server], port, epoll_events=4) as server:
            done, _ = worker(spec, f"sqlite:///{home}/crawl.sqlite3", home, [for_worker])
            busy = server.cpu_seconds() / done.wall_seconds
        with log.open() as lines:
            requests = [one for one in server_log.read(lines) if one.host in wanted]
    return Broad(done, _rate(requests, warm_up, seconds), server_log.judge(requests, delay), busy)


def _rate(requests: list[server_log.Request], warm_up: float, seconds: float) -> float:
    pages = sorted(one.ended for one in requests if one.status == "200" and one.path != "/robots.txt")
    if not pages:
        return 0.0
    begin = pages[0] + warm_up * 1000
    return sum(begin <= ended < begin + seconds * 1000 for ended in pages) / seconds


def tell(name: str, broad: Broad) -> None:
    print(row(f"{name}: {broad.pages_per_second:,.0f} pages/s in the window", broad.done))
    manners = broad.manners
    print(
        f"  by the server's log: {manners.requests:,} requests to {manners.hosts:,} hosts, {manners.too_early} too"
        f" early, {manners.at_once} of them at once, shortest gap {manners.shortest_gap_ms} ms;"
        f" its core was {broad.server_busy:.0%} busy"
    )
    for example in manners.examples:
        print(f"    {example}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="300 hosts, 10 s: for a look, not for a claim")
    parser.add_argument("--seconds", type=float, default=0, help="of the window (60; quick: 10)")
    parser.add_argument("--hosts", type=int, default=0, help="(2,000; quick: 300)")
    chosen = parser.parse_args()
    hosts = addresses(chosen.hosts or (QUICK_HOSTS if chosen.quick else HOSTS))
    seconds = chosen.seconds or (QUICK_SECONDS if chosen.quick else SECONDS)
    first, second = cores(2)
    print(HEADING)
    fastest = measure(hosts, (first, second), 0.0, WARM_UP_SECONDS, seconds)
    tell("no delay", fastest)
    polite = measure(hosts, (first, second), DELAY_SECONDS, WARM_UP_SECONDS, seconds)
    tell(f"{DELAY_SECONDS:g} s delay", polite)
    ideal = min(len(hosts) / DELAY_SECONDS, fastest.pages_per_second)
    share = polite.pages_per_second / ideal * 100 if ideal else 0.0
    print(verdict(f"of the ideal {ideal:,.0f} pages/s", share, TARGET, unit="%", of=[fastest.done, polite.done]))
    violations = polite.manners.too_early + fastest.manners.at_once
    print(verdict("politeness violations", violations, 0, unit="", at_most=True))
    return int(violations > 0)


if __name__ == "__main__":
    raise SystemExit(main())
