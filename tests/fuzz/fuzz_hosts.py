"""Fuzz the host functions: ``python tests/fuzz/fuzz_hosts.py -max_total_time=60`` (needs atheris)."""

import sys
from importlib import import_module

from crawler.web.hosts import canonical_domain, registrable_domain
from crawler.web.urls import InvalidURL, normalize


def one(data: bytes) -> None:
    """Naming twice changes nothing, and every URL that has an identity has a domain."""
    text = data.decode("utf-8", "surrogateescape")
    for registrable in (False, True):
        _check_domain(text, registrable)
    _check_url(f"http://{text}")
    found = registrable_domain(text)
    assert found is None or registrable_domain(found) == found


def _check_domain(text: str, registrable: bool) -> None:
    try:
        domain = canonical_domain(text, registrable=registrable)
    except InvalidURL:
        return
    assert domain.isascii() and domain == domain.lower()
    assert canonical_domain(domain, registrable=registrable) == domain


def _check_url(url: str) -> None:
    try:
        normal = normalize(url)
    except InvalidURL:
        return
    assert canonical_domain(url) == canonical_domain(normal)


if __name__ == "__main__":
    atheris = import_module("atheris")  # has no types and is no dependency
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
