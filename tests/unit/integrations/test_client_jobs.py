"""What a bot may answer: checked where the mistake was made, and sent digit by digit."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from crawler.integrations.client import Failure, InvalidResult, Job, Result
from crawler.integrations.client.errands import MOST_BYTES_IN_A_REQUEST, encode

JOB = Job("id-1", "https://example.com/", 5, 3, 600, 0, datetime(2026, 1, 7, tzinfo=UTC), fence=4)


@pytest.mark.parametrize(
    ("price", "sent"),
    [
        (Decimal("9.90"), "9.90"),
        (1290000, "1290000"),
        ("0.000001", "0.000001"),
        (0.1, "0.1"),
        (1e3, "1000.0"),
        (Decimal("1E+3"), "1000"),
        ("-0", "0"),
        (Decimal("9.9900000000"), "9.9900000000"),
    ],
)
def test_prices_keep_their_digits(price: Any, sent: str) -> None:
    assert json.loads(encode(JOB, Result(price, "eur")))["price"] == sent


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"price": None}, "price: a Decimal, int or text is needed, not None"),
        ({"price": True}, "price: a Decimal, int or text is needed, not True"),
        ({"price": "12,90"}, "price: '12,90' is not a number"),
        ({"price": float("nan")}, "price: nan is not a finite number"),
        ({"price": -1}, "price: -1 is negative"),
        ({"price": 10**12}, "price: 1000000000000 has more than 12 digits"),
        ({"price": "0.0000001"}, "price: '0.0000001' has more than"),
        ({"currency": "EURO"}, "currency: three letters are needed, like EUR, not 'EURO'"),
        ({"currency": "€"}, "currency: three letters"),
        ({"currency": None}, "currency: three letters"),
        ({"title": 5}, "title: a str is needed, not 5"),
        ({"title": "a\0"}, "title: null characters"),
        ({"in_stock": "yes"}, "in_stock: a bool is needed, not 'yes'"),
        ({"parsed_data": ["x"]}, "parsed_data: a dict is needed"),
        ({"parsed_data": {"x": {1, 2}}}, "parsed_data: a set cannot be written as JSON"),
        ({"parsed_data": {"x": float("inf")}}, "parsed_data: "),
        ({"raw_html": b"<p>"}, "raw_html: a str is needed"),
    ],
)
def test_what_the_server_would_refuse_is_refused_here(fields: dict[str, Any], complaint: str) -> None:
    given: dict[str, Any] = {"price": 1, "currency": "EUR"} | fields
    with pytest.raises(InvalidResult) as caught:
        Result(**given)
    assert str(caught.value).startswith(complaint)


def test_an_answer_names_its_job_and_fence() -> None:
    data = {"price": Decimal("1.5"), "count": Decimal(2), "seen": datetime(2026, 1, 7, tzinfo=UTC)}
    sent = json.loads(encode(JOB, Result("1.5", "eur", "Tea", False, data, "<p>")))
    assert sent == {
        "job_id": "id-1",
        "fence": 4,
        "success": True,
        "price": "1.5",
        "currency": "EUR",
        "title": "Tea",
        "in_stock": False,
        "parsed_data": {"price": 1.5, "count": 2, "seen": "2026-01-07T00:00:00+00:00"},
        "raw_html": "<p>",
    }


def test_what_is_left_out_is_not_sent() -> None:
    assert set(json.loads(encode(JOB, Result(1, "EUR")))) == {
        "job_id",
        "fence",
        "success",
        "price",
        "currency",
        "in_stock",
    }


def test_a_page_that_is_too_big_stays_behind() -> None:
    sent = encode(JOB, Result(1, "EUR", raw_html="x" * (MOST_BYTES_IN_A_REQUEST + 1)))
    assert len(sent) < 200 and "raw_html" not in sent


def test_failures_are_short_and_can_be_stored() -> None:
    assert json.loads(encode(JOB, Failure("a\0b\ud800" + "x" * 900)))["error_msg"] == "ab?" + "x" * 497
    assert Failure.of(ValueError("one\ntwo")).reason == "ValueError: one"
    assert Failure.of(TimeoutError()).reason == "TimeoutError"


def test_a_later_servers_job_can_be_read() -> None:
    data = {"job_id": "a", "url": "u", "priority": 1, "max_retries": 3, "timeout_seconds": 60, "retry_count": 0}
    job = Job.from_json(data | {"locked_until": "2026-01-07T10:00:00Z", "fence": 2, "news": 1})
    assert (job.locked_until, job.fence) == (datetime(2026, 1, 7, 10, tzinfo=UTC), 2)
