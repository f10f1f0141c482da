from datetime import UTC, datetime

from crawler.foundation.ids import new_id, short_id


def test_ids_are_version_7_and_sort_by_the_time_they_were_made() -> None:
    made = [new_id() for _ in range(5000)]
    assert {identifier.version for identifier in made} == {7}
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_ids_carry_the_time() -> None:
    milliseconds = new_id().int >> 80
    assert abs(milliseconds / 1000 - datetime.now(UTC).timestamp()) < 5


def test_short_ids_say_what_they_are_of() -> None:
    assert short_id("req").startswith("req_")
