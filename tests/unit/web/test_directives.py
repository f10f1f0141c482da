"""Robots directives of pages and headers."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.web.directives import HEADER_WORDS, UNRESTRICTED, RobotsDirectives, parse


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", UNRESTRICTED),
        ("index, follow, all, unknown", UNRESTRICTED),
        ("NoIndex", RobotsDirectives(noindex=True)),
        ("noindex,nofollow", RobotsDirectives(noindex=True, nofollow=True)),
        ("noindex nofollow", RobotsDirectives(noindex=True, nofollow=True)),
        ("noindex;nofollow", RobotsDirectives(noindex=True, nofollow=True)),
        ("none", RobotsDirectives(noindex=True, nofollow=True)),
        ("noindex, index", RobotsDirectives(noindex=True)),
        ("noarchive", RobotsDirectives(nocache=True)),
        ("nocache", RobotsDirectives(nocache=True)),
        ("max-snippet: 20, max-snippet:50", RobotsDirectives(max_snippet_characters=20)),
        ("max-snippet:-1, max-video-preview:-1", UNRESTRICTED),
        ("max-image-preview : large", RobotsDirectives(max_image_preview="large")),
        ("max-image-preview:huge, max-snippet:many", UNRESTRICTED),
        ("noai, noimageai", RobotsDirectives(noai=True, noimageai=True)),
    ],
)
def test_words(content: str, expected: RobotsDirectives) -> None:
    assert parse(content) == expected


@pytest.mark.parametrize(
    "written",
    ["25 Jun 2010 15:00:00 UTC", "Friday, 25-Jun-10 15:00:00 GMT", "2010-06-25T15:00:00Z", "2010-06-25 17:00:00 +0200"],
)
def test_expiry_dates_may_contain_commas(written: str) -> None:
    found = parse(f"noindex, unavailable_after: {written}, nofollow")
    expiry = datetime(2010, 6, 25, 15, tzinfo=UTC)
    assert found == RobotsDirectives(noindex=True, nofollow=True, unavailable_after=expiry)
    assert found.is_unavailable(expiry) and not found.is_unavailable(datetime(2010, 6, 25, 14, 59, tzinfo=UTC))


def test_an_unreadable_expiry_is_ignored() -> None:
    assert parse("unavailable_after: some day, noindex") == RobotsDirectives(noindex=True)
    assert not UNRESTRICTED.is_unavailable(datetime(2030, 1, 1, tzinfo=UTC))


def test_merging_keeps_the_stricter() -> None:
    merged = parse("max-image-preview:large, max-snippet:10, nofollow") | parse("max-image-preview:none, max-snippet:0")
    assert merged == RobotsDirectives(nofollow=True, max_snippet_characters=0, max_image_preview="none")
    assert merged | UNRESTRICTED == merged == UNRESTRICTED | merged


def test_none_in_a_header_forbids_copies_too() -> None:
    assert parse("none", HEADER_WORDS) == RobotsDirectives(noindex=True, nofollow=True, nocache=True)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["noindex", "nofollow", "none", "max-snippet:5", "all", "unavailable_after:2020", "x"]))
)
def test_order_does_not_matter(words: list[str]) -> None:
    assert parse(",".join(words)) == parse(",".join(reversed(words)))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="noindexfw: ,;-_1aé\x00\u2028", max_size=200) | st.text())
def test_any_text_is_read(content: str) -> None:
    assert parse(content) | parse(content) == parse(content)
