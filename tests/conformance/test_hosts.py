"""Registrable domains against the public suffix list's cases, international hosts against UTS 46's by way of WPT."""

from typing import Any

import pytest

from crawler.web.hosts import ascii_host, canonical_domain, registrable_domain
from crawler.web.urls import InvalidURL
from tests.conformance import vectors

PSL = vectors.rows("psl.jsonl")
IDNA = vectors.rows("idna.jsonl")


def by_row(row: dict[str, Any]) -> str:
    return str(row["_row"])


@pytest.mark.parametrize("row", PSL, ids=by_row)
def test_registrable_domain(row: dict[str, Any]) -> None:
    # Not strict is crawler-commons' mode that answers a public suffix with itself; we answer None, as the list's own
    # test file does and as the registrable mode of canonical_domain needs.
    answers_itself = row.get("strict") is False and row["host"] == row["registrable"] and "." not in row["host"]
    expected = None if answers_itself else row["registrable"]
    assert registrable_domain(row["host"], icann_only=row["section"] == "icann") == expected


@pytest.mark.parametrize("row", IDNA, ids=by_row)
def test_hosts_become_ascii(row: dict[str, Any]) -> None:
    # UTS 46 maps nothing to nothing, but a URL has no empty host (the one row on which the URL parser disagrees).
    if row["ascii"] is None or not row["url_parser_agrees"]:
        with pytest.raises(InvalidURL):
            ascii_host(row["input"])
        with pytest.raises(InvalidURL):
            canonical_domain(row["input"])
        return
    assert ascii_host(row["input"]) == row["ascii"]
    assert canonical_domain(f"https://{row['input']}/") == canonical_domain(row["ascii"])
