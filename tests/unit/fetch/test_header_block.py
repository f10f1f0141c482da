import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.header_block import final_head, parsed_headers

USUAL = [b"HTTP/1.1 200 OK\r\n", b"A: 1\r\n", b"B: 2\r\n", b"\r\n"]


def test_the_usual() -> None:
    assert final_head(USUAL) == (b"HTTP/1.1 200 OK\r\nA: 1\r\nB: 2", 0, True)


def test_interim_answers_are_counted_and_left_out() -> None:
    lines = [b"HTTP/1.1 103 Early Hints\r\n", b"Link: x\r\n", b"\r\n", *USUAL]
    assert final_head(lines) == (b"HTTP/1.1 200 OK\r\nA: 1\r\nB: 2", 1, True)


def test_trailers_are_left_out() -> None:
    assert final_head([*USUAL, b"T: 3\r\n", b"\r\n"]) == (b"HTTP/1.1 200 OK\r\nA: 1\r\nB: 2", 0, True)


def test_bare_line_feeds() -> None:
    assert final_head([b"HTTP/1.0 200 OK\n", b"A: 1\n", b"\n"]) == (b"HTTP/1.0 200 OK\nA: 1", 0, True)


def test_headers_that_break_off() -> None:
    assert final_head(USUAL[:2]) == (b"HTTP/1.1 200 OK\r\nA: 1", 0, False)
    assert final_head([]) == (b"", 0, False)


def test_a_header_that_looks_like_a_status_line() -> None:
    lines = [b"HTTP/1.1 200 OK\r\n", b"HTTP/9: x\r\n", b"\r\n"]
    assert final_head(lines).block == b"HTTP/1.1 200 OK\r\nHTTP/9: x"


@pytest.mark.parametrize(
    ("block", "headers"),
    [
        (b"HTTP/1.1 200 OK", {}),
        (b"HTTP/1.1 200 OK\r\nA: 1\r\nb:2", {"a": "1", "b": "2"}),
        (b"HTTP/1.1 200 OK\nA: 1\nb:2", {"a": "1", "b": "2"}),
        (b"HTTP/1.1 200 OK\r\nA: 1\r\nA: 2", {"a": "1, 2"}),
        (b"HTTP/1.1 200 OK\r\nA: 1\r\n  2\r\n\t3", {"a": "1 2 3"}),
        (b"HTTP/1.1 200 OK\r\n folded into nothing\r\nA:", {"a": ""}),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n more of it\r\n: no name\r\nA: 1:2", {"a": "1:2"}),
        (b"HTTP/1.1 200 OK\r\nA : \xe9\x00\xff ", {"a": "\xe9\xff"}),
    ],
)
def test_reading(block: bytes, headers: dict[str, str]) -> None:
    assert parsed_headers(block) == headers


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"") + b"\n"), max_size=20))
def test_nothing_raises(lines: list[bytes]) -> None:
    headers = parsed_headers(final_head(lines).block)
    assert all(name == name.strip().lower() and "\0" not in name + value for name, value in headers.items())
