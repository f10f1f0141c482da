"""Near duplicates against the cases of BUbiNG, simhash-py and simhash."""

from typing import Any

import pytest

from crawler.web.simhash import distance, find_all, fingerprint, html_digest, of_hashes
from tests.conformance import vectors

ROWS = vectors.rows("neardup.jsonl")
# Texts of ten words, of which one or two differ, are further apart than pages are; random ones are at about 32.
NEAR_FOR_SHORT_TEXTS = 12
FAR = 20


def by_row(row: dict[str, Any]) -> str:
    return f"{row['_row']}-{row['kind']}"


@pytest.mark.parametrize("row", ROWS, ids=by_row)
def test_near_duplicates(row: dict[str, Any]) -> None:
    CHECKS[row["kind"]](row)


def check_html_digest(row: dict[str, Any]) -> None:
    assert (html_digest(row["a"]) == html_digest(row["b"])) is row["duplicate"]


def check_hamming(row: dict[str, Any]) -> None:
    assert distance(row["x"], row["y"]) == row["distance"]


def check_of_hashes(row: dict[str, Any]) -> None:
    assert of_hashes(row["hashes"]) == row["simhash"]


def check_find_all(row: dict[str, Any]) -> None:
    assert find_all(row["hashes"], row["max_distance"]) == [tuple(pair) for pair in row["pairs"]]


def check_texts(row: dict[str, Any]) -> None:
    # The distances in the rows are those of another hash function: they tell near from far, no more.
    apart = distance(fingerprint(row["a"]), fingerprint(row["b"]))
    assert apart <= NEAR_FOR_SHORT_TEXTS if row["duplicate"] else apart > FAR


CHECKS = {
    "html_digest": check_html_digest,
    "hamming": check_hamming,
    "simhash_of_hashes": check_of_hashes,
    "find_all": check_find_all,
    "text_simhash": check_texts,
    "text_near_duplicate": check_texts,
    "text_profile": check_texts,
}
