"""Header values: content types, sniffing, caching, waiting times and robots tags."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.web.directives import UNRESTRICTED, RobotsDirectives
from crawler.web.headers import (
    cache_control,
    combined_content_type,
    content_type,
    parse_date,
    retry_after,
    sniff,
    x_robots_tag,
)

NOW = datetime(2019, 6, 3, 11, 0, 0, tzinfo=UTC)


def test_a_content_type_in_parts() -> None:
    found = content_type(' Text/HTML ; Charset="UTF-8" ; q="a\\"b;c" ')
    assert found is not None
    assert (found.type, found.subtype, found.essence, found.charset) == ("text", "html", "text/html", "utf-8")
    assert dict(found.parameters) == {"charset": "UTF-8", "q": 'a"b;c'}
    assert str(found) == 'text/html;charset=UTF-8;q="a\\"b;c"'
    assert found.is_html and not found.is_xml


@pytest.mark.parametrize("value", ["", "text", "text/", "/html", "text html", "text/html,", "te xt/html", "*/*/*"])
def test_what_is_no_content_type(value: str) -> None:
    assert content_type(value) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/html", "text/html"),
        ("text/html;charset=gbk, text/html", "text/html;charset=gbk"),
        ("text/html;charset=gbk, text/html;x=1", "text/html;x=1;charset=gbk"),
        ("text/html;charset=gbk, text/plain", "text/plain"),
        ("text/html;charset=gbk, nonsense, */*", "text/html;charset=gbk"),
        ('text/html;x="a,b", text/plain', "text/plain"),
        ('text/html;x="a,b', 'text/html;x="a,b"'),
        (",", None),
    ],
)
def test_joined_content_types(value: str, expected: str | None) -> None:
    found = combined_content_type(value)
    assert (str(found) if found else None) == expected


@pytest.mark.parametrize("value", ["application/xml", "text/xml", "application/rss+xml", "image/svg+xml"])
def test_xml_types(value: str) -> None:
    found = content_type(value)
    assert found is not None and found.is_xml


@pytest.mark.parametrize(
    ("body", "supplied", "expected"),
    [
        (b"<html>", "text/plain", "text/plain"),
        (b"\0\1", "text/plain", "application/octet-stream"),
        (b"\xff\xfe\0\1", "text/plain", "text/plain"),
        (b"\0\1", "text/plain;charset=utf-8", "text/plain"),
        (b"\x89PNG\r\n\x1a\n", "image/jpeg", "image/png"),
        (b"\x89PNG\r\n\x1a\n", "text/html", "text/html"),
        (b"\x89PNG\r\n\x1a\n", "application/pdf", "application/pdf"),
        (b"<p>", "application/rss+xml", "application/rss+xml"),
        (b"<p>", "*/*", "text/html"),
        (b"<p>", "nonsense", "text/html"),
        (b"<ps>", None, "text/plain"),
        (b" \n<?xml version", None, "text/xml"),
        (b"%PDF-1.4", None, "application/pdf"),
        (b"%!PS-Adobe-3", None, "application/postscript"),
        (b"\xef\xbb\xbf\0", None, "text/plain"),
        (b"\xff\xfb\x90\x00" + b"\0" * 413 + b"\xff\xfb\x90\x00", None, "audio/mpeg"),
        (b"\xff\xfb\x90\x00" + b"\0" * 500, None, "application/octet-stream"),
        (b"\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1f\x42\x82\x84webm", None, "video/webm"),
        (b"\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1f\x42\x82\x88matroska", None, "application/octet-stream"),
        (b"\x1a\x45\xdf\xa3\x42\x82", None, "application/octet-stream"),
        (b"\0\0\0\x10ftypisom\0\0\0\0", None, "application/octet-stream"),
        (b"", None, "text/plain"),
    ],
)
def test_sniffing(body: bytes, supplied: str | None, expected: str) -> None:
    assert sniff(body, supplied) == expected


def test_nosniff_keeps_what_the_server_says() -> None:
    assert sniff(b"\x89PNG\r\n\x1a\n", "image/jpeg", nosniff=True) == "image/jpeg"
    assert sniff(b"<html>", nosniff=True) == "text/plain"


def test_cache_control_in_use() -> None:
    found = cache_control("private, max-age=60, No-Cache=Set-Cookie")
    assert found.max_age_seconds == 60
    assert found.may_be_stored and not found.needs_revalidation
    assert dict(found.directives) == {"private": True, "max-age": 60, "no-cache": ["set-cookie"]}
    assert cache_control("no-cache").needs_revalidation
    assert not cache_control("x=1, NO-STORE").may_be_stored
    assert cache_control("").max_age_seconds is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('max-age="60"', {"max-age": 60}),
        ("max-age=0060", {"max-age": 60}),
        ("max-age=-1", {}),
        ("max-age", {}),
        ("max-age=60, max-age=30, max-age=90", {"max-age": 30}),
        ("max-age=60, max-age=x", {}),
        ("public=1, immutable", {"immutable": True}),
        ('foo="a, no-store", public', {"public": True}),
        ('foo="a, no-store', {"no-store": True}),
        ('foo="a\\", no-store", public', {"public": True}),
        (",, ,public,", {"public": True}),
        (["public", "max-age=1"], {"public": True, "max-age": 1}),
        ("no-cache=a, no-cache=b, no-cache", {"no-cache": True}),
    ],
)
def test_cache_control_is_read_on_the_safe_side(value: str | list[str], expected: dict[str, object]) -> None:
    assert dict(cache_control(value).directives) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120.0),
        ("Mon, 03 Jun 2019 12:00:00 GMT", 3600.0),
        ("Mon, 03 Jun 2019 10:00:00 GMT", 0.0),
        ("2019-06-03T12:00:00Z", 3600.0),
        ("Sunday, 03-Jun-18 11:00:00 GMT", 0.0),
        ("9" * 5000, 2_592_000.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 2_592_000.0),
        ("-5", None),
        ("2019.5", None),
        ("soon", None),
        ("", None),
        ("٣", None),
    ],
)
def test_retry_after(value: str, expected: float | None) -> None:
    assert retry_after(value, NOW) == expected


def test_the_limit_of_a_wait_is_a_parameter() -> None:
    assert retry_after("7200", NOW, longest_seconds=3600) == 3600


def test_dates_strict_and_lenient() -> None:
    assert parse_date("Mon, 3 Jun 2019 11:00:00 UTC") is None
    assert parse_date("Mon, 3 Jun 2019 11:00:00 UTC", lenient=True) == NOW
    assert parse_date("Monday, 03-Jun-19 11:00:00 GMT", now=NOW) == NOW


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("noindex", RobotsDirectives(noindex=True)),
        (["noindex", "nofollow"], RobotsDirectives(noindex=True, nofollow=True)),
        ("otherbot: noindex, nofollow", UNRESTRICTED),
        ("crawlspace: noindex, nofollow", RobotsDirectives(noindex=True, nofollow=True)),
        ("CrawlSpace : noindex", RobotsDirectives(noindex=True)),
        ("nofollow, otherbot: noindex, crawlspace: noarchive", RobotsDirectives(nofollow=True, nocache=True)),
        (["otherbot: noindex", "nofollow"], RobotsDirectives(nofollow=True)),
        ("*: noindex", RobotsDirectives(noindex=True)),
        (
            "max-snippet: 7, max-image-preview: none",
            RobotsDirectives(max_snippet_characters=7, max_image_preview="none"),
        ),
        (
            "unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, none",
            RobotsDirectives(
                noindex=True, nofollow=True, nocache=True, unavailable_after=datetime(2010, 6, 25, 15, tzinfo=UTC)
            ),
        ),
        ([], UNRESTRICTED),
    ],
)
def test_x_robots_tag(values: str | list[str], expected: RobotsDirectives) -> None:
    assert x_robots_tag(values, "Crawlspace/1.0 (+https://example.org)") == expected


def test_without_a_name_only_general_directives_count() -> None:
    assert x_robots_tag("crawlspace: noindex, nofollow") == UNRESTRICTED


def test_hostile_values_take_no_time() -> None:
    start = time.perf_counter()
    for value in (
        ";" * 10**6,
        '"' * 10**6,
        "a/b;" + 'a="\\' * 10**6,
        "a/b;c=" + " " * 10**6,
        ",=" * 10**6,
        "=" * 10**6,
    ):
        content_type(value)
        combined_content_type(value)
        cache_control(value)
        retry_after(value, NOW)
        x_robots_tag([value] * 200, "x")
        parse_date(value, lenient=True)
    assert time.perf_counter() - start < 5


ANY_VALUE = st.text(alphabet='abmx-/=;:," \t\\019\xa0é\n', max_size=100) | st.text()


@settings(max_examples=300, deadline=None)
@given(ANY_VALUE)
def test_any_value_is_read(value: str) -> None:
    found = content_type(value)
    assert found is None or content_type(str(found)) == found
    combined_content_type(value)
    waiting = retry_after(value, NOW)
    assert waiting is None or 0 <= waiting <= timedelta(days=30).total_seconds()
    x_robots_tag(value, value)
    directives = cache_control(value).directives
    assert all(item is True or isinstance(item, list | int) for item in directives.values())


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=100), ANY_VALUE | st.sampled_from(["text/plain", "image/png", "audio/x", "*/*"]))
def test_any_body_has_a_type(body: bytes, supplied: str) -> None:
    assert content_type(sniff(body, supplied)) is not None
    assert sniff(body) == sniff(body + b"\0" * 0)
