"""Fuzz the URL functions: ``python tests/fuzz/fuzz_urls.py -max_total_time=60`` (needs atheris).

Input is a base and an href with a byte 0xFF between them.
"""

import sys
from importlib import import_module

from crawler.web.urls import InvalidURL, normalize, parse, resolve, url_hash


def one(data: bytes) -> None:
    """The parser's answer however it is reached, and one stable normal form for every URL that has one."""
    base, _, href = (part.decode("utf-8", "surrogateescape") for part in data.partition(b"\xff"))
    base = f"http://{base}"
    assert _resolved(href, base) == _parsed(href, base)
    for url in (base, f"https://example.com/{href}", f"http://h?{href}", href):
        _check_normal_form(url)


def _check_normal_form(url: str) -> None:
    normal = _normal(url)
    assert normal == _normal(f" {url}"), "a leading space keeps the text off the fast way and means nothing"
    if normal:
        assert normal.isascii()
        assert normalize(normal) == normal == parse(normal).href
        assert url_hash(url) == url_hash(normal)


def _normal(url: str) -> str | None:
    try:
        return normalize(url)
    except InvalidURL:
        return None


def _resolved(href: str, base: str) -> str | None:
    try:
        return resolve(href, base)
    except InvalidURL:
        return None


def _parsed(href: str, base: str) -> str | None:
    try:
        url = parse(href, base).href.partition("#")[0]
    except InvalidURL:
        return None
    return url if url.startswith(("http:", "https:")) else None


if __name__ == "__main__":
    atheris = import_module("atheris")  # has no types and is no dependency
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
