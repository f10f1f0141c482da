"""Fuzz fingerprints: ``python tests/fuzz/fuzz_simhash.py -max_total_time=60`` (needs atheris)."""

import sys
from importlib import import_module

from crawler.web.simhash import distance, find_all, fingerprint, html_digest, of_hashes


def one(data: bytes) -> None:
    """The whole-integer arithmetic agrees with counting bit by bit, and no text breaks anything."""
    text = data.decode("utf-8", "surrogateescape")
    value = fingerprint(text)
    assert 0 <= value < 2**64 and value == fingerprint(f" {text}\n")
    assert len(html_digest(text)) == 32
    hashes = [int.from_bytes(data[at : at + 8], "little") for at in range(0, min(len(data), 400), 8)]
    assert of_hashes(hashes) == sum(
        1 << bit for bit in range(64) if sum(number >> bit & 1 for number in hashes) * 2 > len(hashes)
    )
    assert all(distance(*pair) <= len(data) % 9 for pair in find_all(hashes, len(data) % 9))


if __name__ == "__main__":
    atheris = import_module("atheris")  # has no types and is no dependency
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
