"""Text out of bytes: decoding, fingerprints and metadata, each beside a peer.

Run as ``python -m benchmarks.web.bench_text``; w3lib, charset-normalizer, simhash and extruct have to be installed. The
sides take turns, and the fastest round of each counts.
"""

import random
import time
from collections.abc import Callable
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from crawler.extract import metadata
from crawler.web.charset import decode
from crawler.web.simhash import distance, fingerprint

ROUNDS = 30
CALLS_IN_A_ROW = 5  # so that each side finds the memory as it left it itself
SYLLABLES = "ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo ra re ri ro sa se si so ta te ti to".split()
URL = "https://example.org/news/page.html"
HEADER = "text/html; charset=utf-8"


def run() -> list[dict[str, Any]]:
    """One figure per function: microseconds a page, pages a second, the ratio to its peer and the target for it."""
    return [*_decoding(), *_fingerprints(), *_quality(), *_metadata()]


def _decoding() -> list[dict[str, Any]]:
    from charset_normalizer import from_bytes
    from w3lib.encoding import html_to_unicode

    utf8 = _page(100_000, "ä").encode()
    legacy = _page(100_000, "й").encode("cp1251", "replace").replace(b"<meta charset=utf-8>", b"")
    seconds = _fastest(
        {
            "decode 100 KB UTF-8, declared": lambda: decode(utf8, HEADER),
            "bytes.decode of it": lambda: utf8.decode("utf-8", "replace"),
            "w3lib.html_to_unicode of it": lambda: html_to_unicode(HEADER, utf8),
            "decode 100 KB windows-1251, undeclared": lambda: decode(legacy),
            "charset_normalizer of it": lambda: str(from_bytes(legacy).best()),
        }
    )
    return [
        _figure("decode 100 KB UTF-8, declared", seconds, "bytes.decode of it", at_most=1.3),
        _figure("decode 100 KB UTF-8, declared", seconds, "w3lib.html_to_unicode of it", at_most=1.3),
        _figure("decode 100 KB windows-1251, undeclared", seconds, "charset_normalizer of it", at_most=1.0),
    ]


def _fingerprints() -> list[dict[str, Any]]:
    from simhash import Simhash

    text = " ".join(_words(random.Random(1), 1_650))
    seconds = _fastest(
        {f"fingerprint of {len(text) // 1000} KB": lambda: fingerprint(text), "simhash.Simhash": lambda: Simhash(text)}
    )
    name = next(iter(seconds))
    return [_figure(name, seconds, "simhash.Simhash", at_most=0.2), _figure(name, seconds, at_most_seconds=0.001)]


def _quality() -> list[dict[str, Any]]:
    """How far apart texts of 1,500 words are: one word changed, five words changed, unrelated."""
    rng = random.Random(2)
    texts = [_words(rng, 1_500) for _ in range(60)]
    prints = [fingerprint(" ".join(words)) for words in texts]
    found = []
    for edits, share_wanted in ((1, 0.95), (5, 0.75)):
        near = [
            distance(before, fingerprint(" ".join(_edited(words, edits, rng)))) <= 3
            for before, words in zip(prints, texts, strict=True)
        ]
        share = sum(near) / len(near)
        found.append(
            {"what": f"{edits} words changed: share within 3 bits", "value": share, "met": share >= share_wanted}
        )
    apart = [distance(one, other) for at, one in enumerate(prints) for other in prints[at + 1 :]]
    share = sum(bits > 20 for bits in apart) / len(apart)
    found.append({"what": "unrelated: share beyond 20 bits", "value": share, "met": share >= 0.97})
    return found


def _metadata() -> list[dict[str, Any]]:
    import extruct

    page = _page(26_000, "e")
    tree = LexborHTMLParser(page)
    seconds = _fastest(
        {
            "metadata.extract of 26 KB": lambda: metadata.extract(page, URL),
            "metadata.from_tree of it": lambda: metadata.from_tree(tree, URL),
            "bare lexbor parse of it": lambda: LexborHTMLParser(page),
            "extruct (json-ld, opengraph) of it": lambda: extruct.extract(
                page, base_url=URL, syntaxes=["json-ld", "opengraph"]
            ),
        }
    )
    return [
        _figure("metadata.extract of 26 KB", seconds, "extruct (json-ld, opengraph) of it", at_most=0.7),
        _figure("metadata.extract of 26 KB", seconds, "bare lexbor parse of it", at_most=1.6),
        _figure("metadata.from_tree of it", seconds, "bare lexbor parse of it", at_most=1.0),
    ]


def _words(rng: random.Random, count: int) -> list[str]:
    """Words of an invented language, a few of them as frequent as in a real one."""
    frequent = ["the", "of", "and", "to", "a", "in", "is", "that"]
    own = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(600)]
    return [rng.choice(frequent if rng.random() < 0.35 else own) for _ in range(count)]


def _edited(words: list[str], edits: int, rng: random.Random) -> list[str]:
    words = list(words)
    for _ in range(edits):
        words[rng.randrange(len(words))] = "changed"
    return words


def _page(length: int, letter: str) -> str:
    """A page like a news site's: a head full of metadata, then paragraphs with links."""
    rng = random.Random(3)
    head = f"""<!doctype html><html lang="en"><head><meta charset=utf-8><title>A headl{letter}ne of the day</title>
    <meta name="description" content="What happ{letter}ned and why"><link rel="canonical" href="/news/page">
    <meta property="og:title" content="Headline"><meta property="og:image" content="https://example.org/a.png">
    <meta property="article:published_time" content="2026-01-02T03:04:05Z"><link rel="stylesheet" href="/main.css">
    <script type="application/ld+json">{{"@context": "https://schema.org", "@type": "NewsArticle",
    "headline": "Headline", "dateModified": "2026-01-03",
    "author": {{"@type": "Person", "name": "Ann Author"}}}}</script></head><body>"""
    parts = [head]
    size = len(head)
    while size < length:
        text = " ".join(_words(rng, 40)).replace("e", letter)
        parts.append(f'<div class="block"><p>{text}, <a href="/p/{size}">more</a></p></div>\n')
        size += len(parts[-1])
    return "".join(parts)


def _fastest(sides: dict[str, Callable[[], object]]) -> dict[str, float]:
    fastest = dict.fromkeys(sides, float("inf"))
    for _ in range(ROUNDS):
        for name, function in sides.items():
            for _ in range(CALLS_IN_A_ROW):
                start = time.perf_counter()
                function()
                fastest[name] = min(fastest[name], time.perf_counter() - start)
    return fastest


def _figure(
    name: str,
    seconds: dict[str, float],
    peer: str | None = None,
    *,
    at_most: float | None = None,
    at_most_seconds: float | None = None,
) -> dict[str, Any]:
    """A time, in proportion to its peer's where there is one, and whether it keeps to its target."""
    own = seconds[name]
    value = own / seconds[peer] if peer else own
    target = at_most if peer else at_most_seconds
    return {
        "what": name + (f" / {peer}" if peer else ", seconds"),
        "microseconds": round(own * 1e6, 1),
        "per_second": round(1 / own),
        "value": value,
        "target": target,
        "met": target is None or value <= target,
    }


def main() -> None:
    for figure in run():
        speed = f"{figure['microseconds']:>9} µs {figure['per_second']:>7}/s" if "microseconds" in figure else " " * 22
        target = f" (target {figure['target']})" if figure.get("target") is not None else ""
        print(f"{speed}  {figure['value']:8.4f}  {'met ' if figure['met'] else 'MISSED'}  {figure['what']}{target}")


if __name__ == "__main__":
    main()
