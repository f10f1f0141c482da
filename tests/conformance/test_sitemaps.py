"""Sitemaps against the suites of crawler-commons, Scrapy and others."""

import base64
from typing import Any

import pytest

from crawler.web.sitemaps import SitemapEntry, SitemapParse, parse
from crawler.web.sitemaps.entries import moment
from tests.conformance import vectors

DEVIATIONS = vectors.deviations("sitemaps")


def _parsed(row: dict[str, Any]) -> tuple[SitemapParse, list[SitemapEntry]]:
    strict = (row.get("options") or {}).get("strict", False)  # crawler-commons' word for the location rule
    found = parse(base64.b64decode(row["content_b64"]), row["sitemap_url"], within_location=strict)
    return found, list(found)


def _agrees_in_detail(entry: SitemapEntry, detail: dict[str, Any]) -> bool:
    priority = 0.5 if entry.priority is None else entry.priority  # the protocol's default, which rows spell out
    return (
        # We read some dates that others give up on, never the other way round.
        (not detail.get("lastmod") or entry.lastmod == moment(detail["lastmod"]))
        and (entry.changefreq or "") == (detail.get("changefreq") or "").lower()
        and priority == float(detail.get("priority") or 0.5)
        and ("alternate" not in detail or [each.url for each in entry.alternates] == detail["alternate"])
    )


def _agrees(row: dict[str, Any]) -> bool:
    found, entries = _parsed(row)
    if row.get("error"):
        return found.error is not None and not entries
    addresses = [entry.loc for entry in entries if not entry.is_sitemap]
    sitemaps = [entry.loc for entry in entries if entry.is_sitemap]
    details = row.get("details") or []
    return (
        addresses == (row["urls"] or [])
        and sitemaps == (row["sitemaps"] or [])
        and all(_agrees_in_detail(entry, detail) for entry, detail in zip(entries, details, strict=False))
    )


@pytest.mark.parametrize("row", [pytest.param(row, id=str(row["_row"])) for row in vectors.rows("sitemaps.jsonl")])
def test_sitemaps(row: dict[str, Any]) -> None:
    reason = DEVIATIONS.get(("sitemaps.jsonl", row["_row"]))
    assert _agrees(row) == (reason is None), reason or row


@pytest.mark.parametrize("row", [pytest.param(row, id=str(row["_row"])) for row in vectors.rows("sitemaps.jsonl")])
def test_a_break_is_recorded_and_nothing_else_is(row: dict[str, Any]) -> None:
    found, _ = _parsed(row)
    is_cut = (row.get("options") or {}).get("allow_partial", False)
    is_something_else = row["format"] in (None, "url") and ("sitemaps.jsonl", row["_row"]) not in DEVIATIONS
    assert (found.error is not None) == (is_cut or is_something_else)
