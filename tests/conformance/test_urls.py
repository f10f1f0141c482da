"""URL parsing, resolution and normalisation against the cases of WPT, RFC 3986 and other crawlers' suites."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from crawler.web.urls import DEFAULT_TRACKING, InvalidURL, Resolver, normalize, parse, resolve
from tests.conformance import vectors

WHATWG = vectors.rows("url_whatwg.jsonl")
RFC3986 = vectors.rows("url_rfc3986.jsonl")
NORMALIZE = vectors.rows("url_normalize.jsonl")
DEVIATIONS = vectors.deviations("urls")


def by_row(row: dict[str, Any]) -> str:
    return str(row["_row"])


def normal_or_none(row: dict[str, Any]) -> str | None:
    dropped = (row.get("options") or {}).get("remove_query_params", DEFAULT_TRACKING)
    try:
        return normalize(row["input"], row["base"], drop_params=dropped)
    except InvalidURL:
        return None


@pytest.mark.parametrize("row", WHATWG, ids=by_row)
def test_parse_is_whatwg(row: dict[str, Any]) -> None:
    if row["expected"] is None:
        with pytest.raises(InvalidURL):
            parse(row["input"], row["base"])
        return
    found = parse(row["input"], row["base"])
    parts = row["parts"]
    assert found.href == row["expected"]
    assert found.scheme == parts["protocol"].removesuffix(":")
    assert (found.username, found.password) == (parts.get("username", ""), parts.get("password", ""))
    assert (found.host, found.port) == (parts.get("hostname", ""), int(parts["port"]) if parts.get("port") else None)
    assert (found.path, found.query) == (parts.get("pathname", ""), parts.get("search", "").removeprefix("?"))
    assert found.fragment == parts.get("hash", "").removeprefix("#")


@pytest.mark.parametrize("row", WHATWG, ids=by_row)
def test_resolve_is_whatwg_without_the_fragment(row: dict[str, Any]) -> None:
    if not str(row["expected"]).startswith(("http:", "https:")):
        with pytest.raises(InvalidURL):
            resolve(row["input"], row["base"])
        return
    expected = row["expected"].partition("#")[0]
    assert resolve(row["input"], row["base"]) == expected
    if row["base"] is not None:
        assert Resolver(row["base"])(row["input"]) == expected


@pytest.mark.parametrize("row", RFC3986, ids=by_row)
def test_resolve_gives_the_examples_of_rfc_3986(row: dict[str, Any]) -> None:
    expected = row.get("whatwg") or row["expected"]
    if row["rule"].startswith("remove_dot_segments"):
        # A path alone: put on a host, as the standard has no relative results.
        assert parse(row["input"], "http://a/").path == "/" + expected.removeprefix("/")
    elif not expected.startswith("http"):
        assert parse(row["input"], row["base"]).href == expected
    else:
        assert parse(row["input"], row["base"]).href == expected
        assert resolve(row["input"], row["base"]) == expected.partition("#")[0]


@pytest.mark.parametrize("row", [row for row in NORMALIZE if row["tier"] != "policy"], ids=by_row)
def test_normalize_agrees_with_other_crawlers(row: dict[str, Any]) -> None:
    agrees = normal_or_none(row) == under_our_rules(row["expected"])
    assert agrees != (("url_normalize.jsonl", row["_row"]) in DEVIATIONS)


# Of the rows that are one project's taste we share these: parameters to drop are a setting, references resolve as the
# standard says, and what is not of the web has no identity. Not shared: dropping user information, "www." or session
# ids unasked, merging "b=" with "b" and "%20" with "+", sorting equal names by value, keeping IDNs in Unicode.
SHARED_TASTE = {
    "testRemoveSessionQueryParameters",
    "remove all",
    "remove dupes",
    "pipe in url",
    "query sort",
    "testResolution",
    "testOpaque",
    "testNullAuthority",
}


@pytest.mark.parametrize("row", [row for row in NORMALIZE if row["rule"] in SHARED_TASTE], ids=by_row)
def test_normalize_shares_this_taste(row: dict[str, Any]) -> None:
    # Some expectations lack the slash that the standard gives an empty path.
    assert normal_or_none(row) == (row["expected"] and parse(row["expected"]).href)


@pytest.mark.parametrize("row", [row for row in NORMALIZE if row["rule"] == "resolve"], ids=by_row)
def test_resolve_agrees_with_other_crawlers(row: dict[str, Any]) -> None:
    assert resolve(row["input"], row["base"]) == row["expected"].partition("#")[0]


def under_our_rules(expected: str | None) -> str | None:
    """What another normaliser gives, with those of our rules applied that it has not and the rows contradict."""
    if expected is None or not expected.startswith("http"):
        return None  # only the web is crawled
    url = urlsplit(expected)
    path = url.path.rstrip("/") or "/"  # rule 3
    query = "&".join(sorted(url.query.split("&"), key=lambda parameter: parameter.partition("=")[0]))  # rule 4
    return url._replace(path=path, query=query, fragment="").geturl()  # rule 5
