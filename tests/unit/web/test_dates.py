"""Dates in HTTP's three forms and in those that servers and pages write instead."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.web.dates import http_date, loose_date

NOON = datetime(2019, 6, 3, 12, 0, 0, tzinfo=UTC)
MIDNIGHT = datetime(2019, 6, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "written", ["Mon, 03 Jun 2019 12:00:00 GMT", "Monday, 03-Jun-19 12:00:00 GMT", "Mon Jun  3 12:00:00 2019"]
)
def test_http_dates(written: str) -> None:
    assert http_date(written) == loose_date(written) == NOON


@pytest.mark.parametrize(
    "written",
    [
        "Mon, 3 Jun 2019 12:00:00 GMT",
        "mon, 03 jun 2019 12:00:00 gmt",
        "Mon, 03 Jun 2019 12:00:00 +0000",
        "Mon, 03 Jun 2019 12:00:00 GMT ",
        "Mon, 31 Feb 2019 12:00:00 GMT",
        "Mon, 03 Jun 0000 12:00:00 GMT",
        "Mon, 03 Jun ２０１９ 12:00:00 GMT",
    ],
)
def test_http_dates_are_strict(written: str) -> None:
    assert http_date(written) is None


def test_years_of_two_digits() -> None:
    written = "Monday, 01-Jan-75 00:00:00 GMT"
    assert http_date(written) == datetime(1975, 1, 1, tzinfo=UTC)
    assert http_date(written, datetime(2024, 1, 1, tzinfo=UTC)) == datetime(1975, 1, 1, tzinfo=UTC)
    assert http_date(written, datetime(2025, 1, 1, tzinfo=UTC)) == datetime(2075, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2019-06-03", MIDNIGHT),
        ("2019/6/3", MIDNIGHT),
        ("20190603", MIDNIGHT),
        ("2019-06", datetime(2019, 6, 1, tzinfo=UTC)),
        ("2019", datetime(2019, 1, 1, tzinfo=UTC)),
        ("2019-06-03T12:00Z", NOON),
        ("2019-06-03T14:00:00+02:00", NOON),
        ("2019-06-03T14:00:00+02", NOON),
        ("2019-06-03 07:00:00 -0500", NOON),
        ("2019-06-03T12:00:00.000000000Z", NOON),
        ("20190603T120000Z", NOON),
        ("Mon, 3 Jun 2019 12:00:00 UTC", NOON),
        ("3 June 2019 08:00 EDT", NOON),
        ("Jun 3, 2019", MIDNIGHT),
        ("June 3rd, 2019 at 12:00 pm", NOON),
        ("Mon Jun  3 05:00:00 PDT 2019", NOON),
        ("1559563200", NOON),
        ("1559563200000", NOON),
        ("  2019-06-03  ", MIDNIGHT),
    ],
)
def test_loose_dates(written: str, expected: datetime) -> None:
    assert loose_date(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "", "yesterday", "03/06/2019", "2019-13-01", "2019-06-03T25:00", "0000-00-00", "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00", "2019-06-03T12:00:00+99:99", "3 Jun 2019 13:00 pm", "3 Jun 2019 12:00 XYZ",
        "9" * 99,
    ],
)  # fmt: skip
def test_what_is_no_date(written: str) -> None:
    assert loose_date(written) is None


@settings(max_examples=200, deadline=None)
@given(st.datetimes(timezones=st.just(UTC)))
def test_iso_dates_come_back(moment: datetime) -> None:
    assert loose_date(moment.isoformat()) == moment


@settings(max_examples=200, deadline=None)
@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 # hypothesis wants it naive
def test_http_dates_come_back(moment: datetime) -> None:
    written = moment.strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert http_date(written) == moment.replace(microsecond=0)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789-+:TZ ,junmonGMTapth.", max_size=70) | st.text())
def test_any_text_is_a_date_in_utc_or_none(written: str) -> None:
    for found in (http_date(written), loose_date(written)):
        assert found is None or found.utcoffset() == timedelta(0)
