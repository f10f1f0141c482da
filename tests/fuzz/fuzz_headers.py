"""Fuzz header values: ``python tests/fuzz/fuzz_headers.py -max_total_time=60`` (needs atheris)."""

import sys
from datetime import UTC, datetime, timedelta
from importlib import import_module

from crawler.web.dates import http_date, loose_date
from crawler.web.directives import parse
from crawler.web.headers import cache_control, combined_content_type, content_type, retry_after, sniff, x_robots_tag

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def one(data: bytes) -> None:
    """Nothing raises, and what is read reads the same again."""
    value = data.decode("utf-8", "surrogateescape") if len(data) % 2 else data.decode("latin-1")
    _check_types(data, value)
    _check_times(value)
    assert parse(value) | parse(value) == parse(value)
    assert x_robots_tag([value, value], value) == x_robots_tag(value, value)
    directives = cache_control(value).directives
    assert all(found is True or isinstance(found, list) or 0 <= found < 2**31 for found in directives.values())


def _check_types(data: bytes, value: str) -> None:
    found = content_type(value)
    assert found is None or content_type(str(found)) == found
    combined_content_type(value)
    assert content_type(sniff(data, value)) is not None
    assert content_type(sniff(data)) is not None


def _check_times(value: str) -> None:
    waiting = retry_after(value, NOW)
    assert waiting is None or 0 <= waiting <= timedelta(days=30).total_seconds()
    strict, loose = http_date(value, NOW), loose_date(value, NOW)
    assert strict is None or strict == loose
    assert loose is None or loose_date(loose.isoformat()) == loose


if __name__ == "__main__":
    atheris = import_module("atheris")  # has no types and is no dependency
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
