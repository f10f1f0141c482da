"""robots.txt against the suites of Google, Protego, crawler-commons, robots-parser, rep-cpp, CPython and others."""

import base64
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from crawler.web.robots import (
    Robots,
    canonical_path,
    governs,
    is_product_token,
    path_of_url,
    robots_url_for,
)
from tests.conformance import vectors

DEVIATIONS = vectors.deviations("robots")
FETCHED_AT = datetime(2026, 11, 15, tzinfo=UTC)

# Rows on which the programs that judged them differ widely, and whose side we do not take: what their note begins with.
OTHER_CHOICES = {
    "GoogleOnly_AcceptUserAgentUpToFirstSpace": "our own name may be a whole User-Agent header, cut at its first space",
    "ID_Encoding": "Google leaves percent-encoding of URLs to the caller; RFC 9309 compares octets",
    "test_user_agent_precedence": "Protego takes prefixes of names; RFC 9309 whole product tokens",
    "test_grouping_unknown_keys": "unknown lines end no group (RFC 9309 2.2.4)",
    "test_generosity": "no wildcards in names",
    "test_with_absolute_urls": "a rule is a path, not a URL",
    "line 581": "of several words on a user-agent line the first is the name",
    "line 929": "how long a crawl-delay is too long is the politeness room's decision",
    "should honor given port number": "a verdict speaks about paths; governs() tells whose paths",
    "should default to port": "a verdict speaks about paths; governs() tells whose paths",
    "UseFirstUserAgentWildcardTest": "groups of one name are merged (RFC 9309 2.2.1)",
    "UserAgentGoogleMobileTest": "the longer name is another name",
    "testDisallowStar": "wildcards are part of RFC 9309",
}


def _cases(file: str) -> list[Any]:
    return [pytest.param(row, id=str(row["_row"])) for row in vectors.rows(file)]


@cache
def _real_file(name: str) -> Robots:
    folder = vectors.folder()
    assert folder is not None
    return Robots.parse((folder / name).read_bytes())


def _robots(row: dict[str, Any]) -> Robots:
    text = row.get("robots_txt")
    return Robots.parse(base64.b64decode(row["robots_txt_b64"]) if text is None else text)


def _expect(file: str, row: dict[str, Any], agrees: bool) -> None:
    reason = DEVIATIONS.get((file, row["_row"]))
    assert agrees == (reason is None), reason or row


@pytest.mark.parametrize("row", _cases("robots_allowed.jsonl"))
def test_allowed(row: dict[str, Any]) -> None:
    verdict = _robots(row).verdict(row["user_agent"], row["url"])
    agrees = verdict.allowed == row["allowed"]
    if row.get("tier") in ("minority", "taste") and row["note"].startswith(tuple(OTHER_CHOICES)):
        return
    _expect("robots_allowed.jsonl", row, agrees)


@pytest.mark.parametrize("row", _cases("robots_real_consensus.jsonl"))
def test_real_files(row: dict[str, Any]) -> None:
    verdict = _real_file(row["robots_txt_file"]).verdict(row["user_agent"], row["url"])
    _expect("robots_real_consensus.jsonl", row, verdict.allowed == row["allowed"])


def _directive(row: dict[str, Any]) -> Any:
    robots, kind, agent = _robots(row), row["kind"], row["user_agent"]
    if kind == "matching_line":
        return robots.verdict(agent, row["url"]).line or -1
    if kind == "crawl_delay":
        return robots.crawl_delay(agent)
    if kind in ("request_rate", "visit_time"):
        found = getattr(robots, kind)(agent)
        return found and found._asdict()
    return getattr(robots, kind)


@pytest.mark.parametrize("row", _cases("robots_directives.jsonl"))
def test_directives(row: dict[str, Any]) -> None:
    _expect("robots_directives.jsonl", row, _directive(row) == row[row["kind"]])


def _misc(kind: str, given: Any) -> Any:
    if kind == "robots_http_status":
        robots = Robots.from_response(given, b"", fetched_at=FETCHED_AT)
        return {"defer": robots.defer, "allowed": robots.verdict("anybot", "http://example.com/page").allowed}
    if kind == "robots_invalid_scope":  # "undefined" is robots-parser's word for: not governed by this file
        return "defined" if governs(given["robots_url"] or "", given["url"]) else "undefined"
    functions = {
        "valid_product_token": is_product_token,
        "robots_path_of_url": path_of_url,
        "robots_escape_pattern": canonical_path,
        "robots_url_for": robots_url_for,
    }
    return functions[kind](given)


@pytest.mark.parametrize("row", _cases("robots_misc.jsonl"))
def test_misc(row: dict[str, Any]) -> None:
    _expect("robots_misc.jsonl", row, _misc(row["kind"], row["input"]) == row["expected"])
