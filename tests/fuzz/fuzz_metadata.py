"""Fuzz metadata: ``python tests/fuzz/fuzz_metadata.py -max_total_time=60`` (needs atheris)."""

import sys
from dataclasses import fields
from importlib import import_module

from crawler.extract.metadata import Metadata, extract

FIELDS = [field.name for field in fields(Metadata)]


def one(data: bytes) -> None:
    """Any page gives metadata of bounded, storable texts; structured data as well."""
    url, _, page = data.partition(b"\n")
    for html in (page, b"<script type=application/ld+json>" + page, b"<meta name=date content='" + page):
        found = extract(html, "https://example.org/" + url.decode("latin-1"), last_modified=url.decode("latin-1"))
        for name in FIELDS:
            value = getattr(found, name)
            if isinstance(value, str):
                value.encode()
                assert 0 < len(value) <= 5_000 or name == "canonical"


if __name__ == "__main__":
    atheris = import_module("atheris")  # has no types and is no dependency
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
