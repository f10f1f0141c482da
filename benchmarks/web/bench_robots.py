"""robots.txt: verdicts and parsing beside Protego.

Run as ``python -m benchmarks.web.bench_robots``; protego has to be installed. The files are made up of the same words
as the URLs, so that many rules come close; the shares of wildcards differ. The sides take turns, and the fastest round
counts. The first verdict is shown with the parsing, too, because we prepare the rules of an agent when it first asks.
"""

import random
import time
from collections.abc import Callable
from typing import Any

from crawler.web.robots import Robots

ROUNDS = 7
URL_COUNT = 2_000
VERDICTS_TARGET_PER_SECOND = 100_000
AGENT = "SearchBot/1.0 (+https://example.com/bot)"
WORDS = (
    "search cart user admin private login api print feed tag category page product sort filter session lang blog news "
    "assets checkout account wishlist compare download media archive author comments profile"
).split()
# name of the file, lines, share of wildcard rules, URLs that the peer is asked about in a round
FILES = (
    ("300 lines, no wildcards", 300, 0.0, 400),
    ("300 lines, a fifth wildcards", 300, 0.2, 400),
    ("300 lines, all wildcards", 300, 1.0, 100),
    ("3,000 lines, a fifth wildcards", 3_000, 0.2, 40),
    ("3,000 lines, all wildcards", 3_000, 1.0, 20),
)


def run() -> list[dict[str, Any]]:
    """For each file: verdicts a second, files parsed a second, and files parsed and first asked a second."""
    from protego import Protego

    figures = []
    for name, lines, wildcards, peer_count in FILES:
        rng = random.Random(lines)
        text = _file(rng, lines, wildcards)
        urls = [f"https://www.example.com{_path(rng, 6)}{_query(rng)}" for _ in range(URL_COUNT)]
        ours, peer = Robots.parse(text), Protego.parse(text)
        seconds = _fastest(
            {
                "verdict": lambda ours=ours, urls=urls: [ours.verdict(AGENT, url) for url in urls],
                "peer verdict": lambda peer=peer, urls=urls[:peer_count]: [peer.can_fetch(url, AGENT) for url in urls],
                "parse": lambda text=text: [Robots.parse(text)],
                "peer parse": lambda text=text: [Protego.parse(text)],
                "first": lambda text=text: [Robots.parse(text).verdict(AGENT, "/")],
                "peer first": lambda text=text: [Protego.parse(text).can_fetch("/", AGENT)],
            }
        )
        target = VERDICTS_TARGET_PER_SECOND if lines == 300 else None
        figures.append(_figure(f"verdict, {name}", seconds["verdict"], seconds["peer verdict"], target))
        figures.append(_figure(f"parse, {name}", seconds["parse"], seconds["peer parse"], None))
        figures.append(_figure(f"parse and first verdict, {name}", seconds["first"], seconds["peer first"], None))
    return figures


def _file(rng: random.Random, lines: int, wildcards: float) -> str:
    rules = [_pattern(rng) if rng.random() < wildcards else _path(rng, 4) for _ in range(lines - 2)]
    head = ["User-agent: *", "Crawl-delay: 1"]
    return "\n".join(head + [f"{rng.choice(('Disallow', 'Disallow', 'Allow'))}: {rule}" for rule in rules])


def _pattern(rng: random.Random) -> str:
    path, word, number = _path(rng, 3), rng.choice(WORDS), rng.randrange(300)
    return rng.choice((f"/*?{word}{number}=", f"/*.{word}{number}$", f"{path}/*/{word}", f"*{path}*{word}"))


def _path(rng: random.Random, depth: int) -> str:
    return "".join(
        f"/{rng.choice(WORDS)}{rng.choice(('', rng.randrange(1_000)))}" for _ in range(rng.randint(1, depth))
    )


def _query(rng: random.Random) -> str:
    return rng.choice(("", "", f"?{rng.choice(WORDS)}={rng.randrange(100)}&page=2"))


def _fastest(sides: dict[str, Callable[[], list[Any]]]) -> dict[str, float]:
    fastest = dict.fromkeys(sides, float("inf"))
    for _ in range(ROUNDS):
        for name, side in sides.items():
            started = time.perf_counter()
            count = len(side())
            fastest[name] = min(fastest[name], (time.perf_counter() - started) / count)
    return fastest


def _figure(name: str, seconds: float, peer_seconds: float, target: int | None) -> dict[str, Any]:
    return {
        "name": name,
        "microseconds": round(seconds * 1e6, 2),
        "per_second": round(1 / seconds),
        "peer": "protego",
        "peer_per_second": round(1 / peer_seconds),
        "times_as_fast": round(peer_seconds / seconds, 1),
        "target": target,
        "met": None if target is None else 1 / seconds >= target,
    }


def _line(figure: dict[str, Any]) -> str:
    line = f"{figure['name']:56} {figure['per_second']:>9,}/s   {figure['times_as_fast']:6.1f}× {figure['peer']}"
    line += f" ({figure['peer_per_second']:,}/s)"
    if figure["target"]:
        line += f"   target {figure['target']:,}/s: {'met' if figure['met'] else 'MISSED'}"
    return line


if __name__ == "__main__":
    for each in run():
        print(_line(each))
