"""``crawler.web.srcset``; the standard's own cases are in tests/conformance/test_links.py."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.web.srcset import MAX_CANDIDATES, Candidate, parse


def test_urls_come_with_their_descriptors() -> None:
    assert parse("small.jpg 480w, large.jpg 1024w 768h, retina.jpg 2x, plain.jpg") == [
        Candidate("small.jpg", "480w", width=480),
        Candidate("large.jpg", "1024w 768h", width=1024, height=768),
        Candidate("retina.jpg", "2x", density=2.0),
        Candidate("plain.jpg"),
    ]


def test_a_comma_belongs_to_the_url_unless_it_ends_it() -> None:
    urls = [one.url for one in parse("/fit=a,b/1.jpg 1x,/2.jpg,, ,3.jpg")]
    assert urls == ["/fit=a,b/1.jpg", "/2.jpg", "3.jpg"]


BROKEN = ["100", "1.5w", "0w", "-1x", "1x 2x", "1w 1w", "1h", "1x 1w", "big", "1x (a,b)", "1e999x"]


@pytest.mark.parametrize("descriptor", BROKEN)
def test_a_candidate_with_a_broken_descriptor_is_left_out(descriptor: str) -> None:
    assert parse(f"a {descriptor}, b 1x") == [Candidate("b", "1x", density=1.0)]


def test_an_open_parenthesis_swallows_the_rest() -> None:
    assert parse("a 1x, b (1x, c 1x") == [Candidate("a", "1x", density=1.0)]


def test_numbers_of_absurd_length_are_cut() -> None:
    assert parse(f"a {'9' * 10_000}w")[0].width == 999_999_999
    assert parse(f"a {'0' * 10_000}7w")[0].width == 7


@pytest.mark.parametrize("unit", ["a,", "a ", ",", "a 1x,", "(", "a (", ")", "a ((", " \t"])
def test_time_is_linear(unit: str) -> None:
    started = time.perf_counter()
    parse(unit * 200_000)
    assert time.perf_counter() - started < 5


@given(st.text(alphabet="ab,() 1.xwhe-\t\n", max_size=60))
@settings(max_examples=300)
def test_any_text_gives_candidates_without_blanks_or_outer_commas(value: str) -> None:
    for candidate in parse(value):
        assert candidate.url and not candidate.url.endswith(",") and not candidate.url.startswith(",")
        assert not set(candidate.url) & set(" \t\n\f\r")


@pytest.mark.parametrize("unit", ["a,", "a 1x, ", "a b,", "a ),", "a (),"])
def test_no_more_than_so_many_candidates_are_read(unit: str) -> None:
    assert len(parse(unit * (2 * MAX_CANDIDATES))) <= MAX_CANDIDATES


def test_a_third_descriptor_contradicts_the_others() -> None:
    assert parse("a 1w 1h" + " 1x" * 100_000) == []
