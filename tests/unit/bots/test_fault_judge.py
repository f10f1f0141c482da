"""The judge of the fault test, judged: a good day passes, and every breach is found by its rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.faults.bot_journal import Exchange
from tests.faults.bot_judge import RULES, breaches
from tests.faults.bot_record import Event, Record, Result, Rules

JOB, URL = "job-1", "url-1"
LATE = "Lock TTL exceeded"


class Day:
    """A bot pulls one job at second 10 and answers at second 20. Its lock lasts 600 s."""

    def __init__(self) -> None:
        made = Event(1, JOB, URL, "pending")
        locked = Event(10, JOB, URL, "locked", 1, 0, 3, "a", 610, began=10)
        done = Event(20, JOB, URL, "done", 1, began=20)
        self.record = Record([made, locked, done], rules={URL: Rules()}, last_prices={URL: Decimal(5)})
        self.record.results = [Result("result-1", JOB, URL, "a", Decimal(5), "EUR", "a:1", True)]
        self.pull("a", 9.9, JOB, 1)
        self.submit("a", 19.9, self.found("a:1"), 201, result_id="result-1", status="done")

    def found(self, mark: str, **more: Any) -> dict[str, Any]:
        price = {"success": True, "price": "5", "currency": "EUR", "in_stock": True}
        return {"job_id": JOB, "title": mark, **price, **more}

    def ask(self, bot: str, path: str, at: float, body: dict[str, Any], status: int | None, answer: Any) -> Exchange:
        taken = None if status is None else at + 0.2
        self.record.exchanges.append(Exchange(bot, path, body, at, None, taken, status, answer))
        return self.record.exchanges[-1]

    def pull(self, bot: str, at: float, job_id: str, fence: int) -> None:
        jobs = [{"job_id": job_id, "fence": fence}]
        self.ask(bot, "pull", at, {"max_jobs": 1}, 200, {"success": True, "data": {"jobs": jobs}})

    def submit(self, bot: str, at: float, body: dict[str, Any], code: int, **data: Any) -> Exchange:
        answer = {"success": True, "data": {"job_id": body["job_id"], **data}}
        return self.ask(bot, "submit", at, body, code, answer)

    def refuse(self, bot: str, path: str, at: float, body: dict[str, Any], status: int, error: str) -> None:
        self.ask(bot, path, at, body, status, {"success": False, "error": error, "detail": ""})

    def change(self, number: int, **facts: Any) -> None:
        self.record.events[number] = replace(self.record.events[number], **facts)

    def then(self, **facts: Any) -> None:
        """Another event, as the last but for these."""
        self.record.events.append(replace(self.record.events[-1], **facts))

    def undo(self) -> None:
        """The job was pulled and not answered."""
        self.record.events.pop()
        self.record.exchanges.pop()
        self.record.results.clear()
        self.record.last_prices[URL] = None


def test_a_good_day_passes() -> None:
    assert breaches(Day().record) == []


def test_an_eventful_but_lawful_day_passes() -> None:
    day = Day()
    day.undo()
    day.ask("a", "submit", 15, day.found("a:1"), None, None)  # its connection broke
    day.refuse("b", "submit", 16, day.found("b:1"), 403, "not_assigned")
    beat = {"extended": [{"job_id": JOB}], "lost": []}
    day.ask("a", "heartbeat", 100, {"job_ids": [JOB]}, 200, {"success": True, "data": beat})
    day.then(at=100.1, locked_until=700)
    day.then(at=701, status="expired", locked_by=None, locked_until=None, error=LATE)
    day.refuse("a", "submit", 702, day.found("a:2"), 400, "lock_expired")
    day.then(at=800, status="pending", fence=2)  # a person reset it
    day.then(at=810, status="locked", fence=3, locked_by="b", locked_until=1410)
    day.pull("b", 809.9, JOB, 3)
    day.ask("b", "release", 820, {"job_ids": [JOB]}, 200, {"success": True, "data": {"released": [JOB], "lost": []}})
    day.then(at=820.1, status="pending", locked_by=None, locked_until=None)
    day.refuse("b", "pull", 900, {}, 503, "service_unavailable")
    day.record.outages.append((890, 910))
    assert breaches(day.record) == []


def break_a_lock(day: Day) -> None:
    day.change(2, status="locked", locked_by="b", locked_until=620)


def shorten_a_lock(day: Day) -> None:
    day.record.events.insert(2, replace(day.record.events[1], at=12, locked_until=609))


def give_the_same_fence_again(day: Day) -> None:
    day.undo()
    day.then(at=12, status="pending", locked_by=None, locked_until=None)
    day.then(at=13, status="locked", locked_by="b", locked_until=613)


def count_too_many_attempts(day: Day) -> None:
    day.change(2, status="failed", retry_count=4, error="a:1")


def leave_it_locked(day: Day) -> None:
    day.undo()


def make_a_second_job(day: Day) -> None:
    day.record.events.insert(1, Event(2, "job-2", URL, "pending"))


def lose_the_result(day: Day) -> None:
    day.record.results.clear()


def store_a_second_result(day: Day) -> None:
    day.record.results.append(replace(day.record.results[0], id="result-2", title="a:2"))


def hand_it_to_two(day: Day) -> None:
    day.pull("b", 9.95, JOB, 1)


def promise_what_is_not(day: Day) -> None:
    day.pull("a", 30, "job-9", 1)


def forget_an_accepted_failure(day: Day) -> None:
    body = {"job_id": JOB, "success": False, "error_msg": "a:7"}
    day.submit("a", 15, body, 200, status="pending", retry_count=1)


def keep_it_twice(day: Day) -> None:
    day.record.results.append(replace(day.record.results[0], id="result-2", job_id="job-2"))


def change_the_price(day: Day) -> None:
    day.record.results[0] = replace(day.record.results[0], price=Decimal(6))


def keep_another_page(day: Day) -> None:
    day.record.results[0] = replace(day.record.results[0], html="<p>another's</p>")


def accept_a_strangers_answer(day: Day) -> None:
    day.record.exchanges[-1].bot = "b"


def accept_an_old_fence(day: Day) -> None:
    day.record.exchanges[-1].body["fence"] = 0


def accept_it_too_late(day: Day) -> None:
    day.change(1, locked_until=19)


def refuse_and_do_it(day: Day) -> None:
    sent = day.record.exchanges[-1]
    sent.status, sent.answer = 400, {"success": False, "error": "job_not_locked", "detail": ""}


def refuse_the_holder(day: Day) -> None:
    day.refuse("a", "submit", 12, day.found("a:0"), 400, "lock_expired")


def call_a_lock_lost(day: Day) -> None:
    lost = {"extended": [], "lost": [JOB]}
    day.ask("a", "heartbeat", 12, {"job_ids": [JOB]}, 200, {"success": True, "data": lost})


def extend_for_a_stranger(day: Day) -> None:
    beat = {"extended": [{"job_id": JOB}], "lost": []}
    day.ask("b", "heartbeat", 12, {"job_ids": [JOB]}, 200, {"success": True, "data": beat})
    day.record.events.insert(2, replace(day.record.events[1], at=12.1, locked_until=612))


def give_back_what_nobody_gave(day: Day) -> None:
    day.undo()
    day.then(at=12, status="pending", locked_by=None, locked_until=None)


def end_a_lock_early(day: Day) -> None:
    day.undo()
    day.then(at=609, status="expired", locked_by=None, locked_until=None, error=LATE)


def ignore_requeue_expired(day: Day) -> None:
    day.undo()
    day.then(at=611, status="expired", locked_by=None, locked_until=None, error=LATE)
    day.record.rules[URL] = Rules(requeue_expired=True)


def requeue_without_being_told(day: Day) -> None:
    day.undo()
    day.then(at=611, status="pending", retry_count=1, locked_by=None, locked_until=None, error=LATE)


def hurry_a_host(day: Day) -> None:
    day.record.rules[URL] = Rules(host_limited=True, delay_seconds=300, lock_seconds=600)
    for number in range(2, 8):
        url, job = f"url-{number}", f"job-{number}"
        day.record.rules[url] = day.record.rules[URL]
        day.record.events += [replace(event, job_id=job, url_hash=url) for event in day.record.events[:2]]


def forget_the_price_before(day: Day) -> None:
    day.record.results[0] = replace(day.record.results[0], previous_price=Decimal(4))


def forget_the_last_price(day: Day) -> None:
    day.record.last_prices[URL] = None


def fail_without_reason(day: Day) -> None:
    day.refuse("a", "pull", 30, {}, 500, "internal_error")


def answer_in_another_shape(day: Day) -> None:
    day.record.outages.append((29, 31))
    day.ask("a", "pull", 30, {}, 502, "Bad Gateway")


def answer_a_key_twice(day: Day) -> None:
    for error in ("job_not_locked", "lock_expired"):
        day.refuse("a", "submit", 700, day.found("a:3"), 400, error)
        day.record.exchanges[-1].key = "key"


BREACHES: dict[str, list[Callable[[Day], None]]] = {
    "every_step_is_allowed": [break_a_lock, shorten_a_lock, give_the_same_fence_again, count_too_many_attempts],
    "nothing_stays_locked": [leave_it_locked],
    "a_url_has_one_open_job": [make_a_second_job],
    "results_are_done_jobs": [lose_the_result, store_a_second_result],
    "a_hand_out_goes_to_one_bot": [hand_it_to_two, promise_what_is_not],
    "an_accepted_answer_is_kept": [lose_the_result, forget_an_accepted_failure],
    "an_answer_has_its_effect_once": [keep_it_twice],
    "every_effect_was_sent_by_its_holder": [
        change_the_price, keep_another_page, accept_a_strangers_answer, accept_an_old_fence, accept_it_too_late,
    ],
    "a_refused_answer_changes_nothing": [refuse_and_do_it],
    "a_holder_is_not_refused": [refuse_the_holder, call_a_lock_lost],
    "locks_change_for_their_holder": [extend_for_a_stranger, give_back_what_nobody_gave],
    "locks_end_by_time_only_when_it_is_over": [end_a_lock_early, ignore_requeue_expired, requeue_without_being_told],
    "hosts_are_not_asked_too_often": [hurry_a_host],
    "price_histories_agree": [forget_the_price_before, forget_the_last_price],
    "errors_are_clean": [fail_without_reason, answer_in_another_shape],
    "a_key_has_one_answer": [answer_a_key_twice],
}  # fmt: skip


@pytest.mark.parametrize(("rule", "spoil"), [(rule, spoil) for rule, ways in BREACHES.items() for spoil in ways])
def test_every_breach_is_found(rule: str, spoil: Callable[[Day], None]) -> None:
    day = Day()
    spoil(day)
    assert rule in {breach.partition(":")[0] for breach in breaches(day.record)}


def test_every_rule_is_tried() -> None:
    assert set(BREACHES) == {rule.__name__ for rule in RULES}
