"""Whether the bots' service kept its word, by what bots were told and what the database noted.

Each rule yields a sentence for every breach it can prove. Nothing here depends on how fast anything was: a rule speaks
only of what must hold for every order of events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from tests.faults.bot_history import Hold, Step, holds_of, steps_of
from tests.faults.bot_journal import Exchange
from tests.faults.bot_record import Record, Result

# SQLite's clock counts milliseconds.
SLACK_SECONDS = 0.002
LOCK_REFUSALS = ("job_not_locked", "not_assigned", "lock_expired", "job_not_found")
STATUSES = (200, 201, 400, 403, 404, 409, 422)


class Sent(NamedTuple):
    """One answer of a bot to a job, alone or in a batch, and what it was told."""

    exchange: Exchange
    body: dict[str, Any]
    status: int | None
    told: dict[str, Any]

    @property
    def mark(self) -> str | None:
        """What is in this answer and in no other."""
        return self.body.get("title") or self.body.get("error_msg")

    @property
    def is_accepted(self) -> bool:
        return self.status in (200, 201)

    @property
    def is_refused(self) -> bool:
        return self.status is not None and 400 <= self.status < 500 and self.status != 409


class Case:
    def __init__(self, record: Record) -> None:
        self.record = record
        self.steps = steps_of(record.events)
        self.holds = holds_of(self.steps)
        self.sent = [one for exchange in record.exchanges for one in _sent(exchange)]

    @cached_property
    def sent_by_mark(self) -> dict[str, list[Sent]]:
        found = defaultdict(list)
        for one in self.sent:
            if one.mark:
                found[one.mark].append(one)
        return found

    @cached_property
    def final(self) -> dict[str, Step]:
        return {step.after.job_id: step for step in self.steps}

    @cached_property
    def results_by_mark(self) -> dict[str, list[Result]]:
        return _grouped(self.record.results, lambda result: result.title)

    @cached_property
    def failures_by_mark(self) -> dict[str, list[Step]]:
        return _grouped([s for s in self.steps if s.kind == "attempt failed"], lambda step: step.after.error)

    def of_kind(self, kind: str) -> list[Step]:
        return [step for step in self.steps if step.kind == kind]

    def asked(self, path: str) -> list[Exchange]:
        return [exchange for exchange in self.record.exchanges if exchange.path == path]

    def hold_ended_by(self, step: Step) -> Hold | None:
        return next((hold for hold in self.holds[step.after.job_id] if hold.ended is step), None)


def _grouped(rows: list[Any], key: Callable[[Any], str]) -> dict[str, list[Any]]:
    found = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def _sent(exchange: Exchange) -> Iterator[Sent]:
    if exchange.path == "submit":
        told = exchange.answer if isinstance(exchange.answer, dict) else {}
        yield Sent(exchange, exchange.body, exchange.status, told)
    elif exchange.path == "submit/batch":
        lines = exchange.data.get("results") or [{"status_code": exchange.status}] * len(exchange.body["results"])
        for body, told in zip(exchange.body["results"], lines, strict=True):
            yield Sent(exchange, body, told["status_code"], told)


def every_step_is_allowed(case: Case) -> Iterator[str]:
    """A job is handed out only while it waits, with the next fence; a lock has one holder; attempts are counted."""
    for step in case.steps:
        if step.kind is None:
            yield f"a job went from {step.before} to {step.after}"
        if step.after.retry_count > step.after.max_retries:
            yield f"more attempts than allowed: {step.after}"


def nothing_stays_locked(case: Case) -> Iterator[str]:
    for step in case.final.values():
        if step.after.status not in ("pending", "done", "failed", "expired"):
            yield f"still {step.after.status} after all locks ended: {step.after}"


def a_url_has_one_open_job(case: Case) -> Iterator[str]:
    open_jobs: dict[str, set[str]] = defaultdict(set)
    for event in case.record.events:
        mine = open_jobs[event.url_hash]
        (mine.add if event.status in ("pending", "locked") else mine.discard)(event.job_id)
        if len(mine) > 1:
            yield f"two open jobs for one URL: {sorted(mine)}"


def results_are_done_jobs(case: Case) -> Iterator[str]:
    done = sorted(key for key, step in case.final.items() if step.after.status == "done")
    stored = sorted(result.job_id for result in case.record.results)
    if done != stored:
        yield f"done without result: {set(done) - set(stored)}; result without done: {set(stored) - set(done)}"
        yield f"{len(done)} jobs are done, {len(stored)} results are stored"


def a_hand_out_goes_to_one_bot(case: Case) -> Iterator[str]:
    """What a bot was told is what the database did, for that bot, then; and no other was told the same."""
    told_to: dict[tuple[str, int], str] = {}
    for exchange in case.asked("pull"):
        for job in exchange.data.get("jobs", []):
            key = (job["job_id"], job["fence"])
            if key in told_to:
                yield f"{key} was handed to {told_to[key]} and to {exchange.bot}"
            told_to[key] = exchange.bot
            hold = next((hold for hold in case.holds.get(key[0], []) if hold.fence == key[1]), None)
            if hold is None or hold.bot != exchange.bot or not _within(hold.granted, exchange):
                yield f"{exchange.bot} was told that it has {key}, which the database does not say"


def an_accepted_answer_is_kept(case: Case) -> Iterator[str]:
    for one in case.sent:
        if not one.is_accepted or not one.mark:
            continue
        kept = _result_told(case, one) if one.body["success"] else _failure_told(case, one)
        if not kept:
            yield f"accepted but not kept as told: {one.mark} {one.told}"


def _result_told(case: Case, one: Sent) -> bool:
    told = one.told["data"]
    found = [(result.id, result.job_id) for result in case.results_by_mark.get(one.mark or "", [])]
    return found == [(told["result_id"], told["job_id"])] and told["status"] == "done"


def _failure_told(case: Case, one: Sent) -> bool:
    told = one.told["data"]
    steps = [step.after for step in case.failures_by_mark.get(one.mark or "", [])]
    found = [(event.job_id, event.status, event.retry_count) for event in steps]
    return found == [(told["job_id"], told["status"], told["retry_count"])]


def an_answer_has_its_effect_once(case: Case) -> Iterator[str]:
    for mark in case.sent_by_mark:
        effects = len(case.results_by_mark.get(mark, [])) + len(case.failures_by_mark.get(mark, []))
        if effects > 1:
            yield f"{mark} had its effect {effects} times"


def every_effect_was_sent_by_its_holder(case: Case) -> Iterator[str]:
    """Results say what was sent; and whoever sent it held the job then, with the fence it showed."""
    results = {result.job_id: result for result in case.record.results}
    for step in case.of_kind("succeeded") + case.of_kind("attempt failed"):
        result = results.get(step.after.job_id) if step.kind == "succeeded" else None
        mark = result.title if result else step.after.error
        sendings = case.sent_by_mark.get(mark, [])
        if result and not any(_says(one.body, result) for one in sendings):
            yield f"a result that nobody sent: {result}"
        hold = case.hold_ended_by(step)
        if hold is None or not any(_may_have_ended(one, hold, step) for one in sendings):
            yield f"{mark} ended a job that its sender did not hold: {step.before} -> {step.after}"


def _says(body: dict[str, Any], result: Result) -> bool:
    sent = (Decimal(body["price"]), body["currency"], body["in_stock"], body.get("raw_html"))
    return sent == (result.price, result.currency, result.in_stock, result.html) if body["success"] else False


def _may_have_ended(one: Sent, hold: Hold, step: Step) -> bool:
    mine = (one.body["job_id"], one.exchange.bot) == (step.after.job_id, hold.bot)
    shown = one.body.get("fence", hold.fence) == hold.fence
    return mine and shown and one.exchange.sent_at <= min(hold.until, step.after.at) + SLACK_SECONDS


def a_refused_answer_changes_nothing(case: Case) -> Iterator[str]:
    for mark, sendings in case.sent_by_mark.items():
        has_effect = mark in case.results_by_mark or mark in case.failures_by_mark
        if has_effect and all(one.is_refused for one in sendings):
            yield f"{mark} was refused and has an effect"


def a_holder_is_not_refused(case: Case) -> Iterator[str]:
    for one in case.sent:
        refused = one.is_refused and one.told.get("error") in LOCK_REFUSALS and not one.exchange.replayed
        if refused and _held_throughout(case, one.exchange, one.body["job_id"], one.body.get("fence")):
            yield f"{one.exchange.bot} held {one.body['job_id']} and was told {one.told['error']}"
    for exchange in case.asked("heartbeat") + case.asked("release"):
        for job_id in exchange.data.get("lost", []):
            if _held_throughout(case, exchange, job_id, None):
                yield f"{exchange.bot} held {job_id} and was told that it is lost"


def _held_throughout(case: Case, exchange: Exchange, job_id: str, fence: int | None) -> bool:
    since, to = exchange.sent_at - SLACK_SECONDS, (exchange.answered_at or 0) + SLACK_SECONDS
    mine = [hold for hold in case.holds.get(job_id, []) if hold.bot == exchange.bot and fence in (None, hold.fence)]
    return any(hold.stood_throughout(since, to) for hold in mine)


CHANGES = {"heartbeat": ("extended", "extended"), "release": ("released", "released")}


def locks_change_for_their_holder(case: Case) -> Iterator[str]:
    """Who was told that a lock was extended or given back held it, and it was; nobody else gives a job back."""
    for path, (field, kind) in CHANGES.items():
        changes = _grouped(case.of_kind(kind), lambda step: step.after.job_id)
        for exchange in case.asked(path):
            for one in exchange.data.get(field, []):
                job_id = one["job_id"] if isinstance(one, dict) else one
                mine = [step for step in changes.get(job_id, []) if step.holder == exchange.bot]
                if not any(_within(step, exchange) for step in mine):
                    yield f"{exchange.bot} was told that {job_id} was {kind}, which the database does not say"
    asked = {(exchange.bot, job_id) for exchange in case.asked("release") for job_id in exchange.body["job_ids"]}
    for step in case.of_kind("released"):
        if (step.holder, step.after.job_id) not in asked:
            yield f"nobody gave this back: {step.before}"


def _within(step: Step, exchange: Exchange) -> bool:
    to = exchange.answered_at or float("inf")
    return exchange.sent_at - SLACK_SECONDS <= step.after.at <= to + SLACK_SECONDS


def locks_end_by_time_only_when_it_is_over(case: Case) -> Iterator[str]:
    """Then the job waits for a person, or counts an attempt where its policy says so."""
    for step in case.of_kind("overdue"):
        assert step.before is not None and step.before.locked_until is not None
        if step.after.at + SLACK_SECONDS < step.before.locked_until:
            yield f"a lock was ended before its time: {step.before} -> {step.after}"
        if (step.after.status == "expired") == case.record.rules[step.after.url_hash].requeue_expired:
            yield f"not what the policy says of locks that ended: {step.after}"


def hosts_are_not_asked_too_often(case: Case) -> Iterator[str]:
    """Hand-outs of a host in any time: no more than fit into it and a lock, one a delay. One more at each end."""
    rules = case.record.rules
    limited = [step for step in case.of_kind("granted") if rules[step.after.url_hash].host_limited]
    for host, steps in _grouped(limited, lambda step: rules[step.after.url_hash].host).items():
        rule = rules[steps[0].after.url_hash]
        behind = float("inf")
        for number, began in enumerate(sorted(step.after.began for step in steps)):
            ahead = number * rule.delay_seconds - began
            behind = min(behind, ahead)
            if ahead - behind > rule.lock_seconds + rule.delay_seconds:
                yield f"{host} got more than one a {rule.delay_seconds} s"
                break


def price_histories_agree(case: Case) -> Iterator[str]:
    """Each result knows the price before it; the product knows the last."""
    results = {result.job_id: result for result in case.record.results}
    last: dict[str, Decimal] = {}
    for step in case.of_kind("succeeded"):
        result = results.get(step.after.job_id)
        if result and result.previous_price != last.get(result.url_hash):
            yield f"the price before {result} was {last.get(result.url_hash)}"
        if result:
            last[result.url_hash] = result.price
    for url_hash, price in case.record.last_prices.items():
        if price != last.get(url_hash):
            yield f"{url_hash} has the price {price}, its last result {last.get(url_hash)}"


def errors_are_clean(case: Case) -> Iterator[str]:
    """The documented shapes and codes; a failure of the server only while its database was away."""
    for exchange in case.record.exchanges:
        if not exchange.was_answered:
            continue
        answer, status = exchange.answer, exchange.status or 0
        if not isinstance(answer, dict) or answer.get("success") is not (status < 400):
            yield f"{exchange.path} answered {status} with {answer!r}"
        elif status >= 400 and not ({"error", "detail"} <= answer.keys() and isinstance(answer["error"], str)):
            yield f"{exchange.path} answered {status} in another shape: {answer}"
        if status not in STATUSES and not (status >= 500 and _in_outage(case, exchange)):
            yield f"{exchange.bot} {exchange.path} was answered {status}: {answer}"


def _in_outage(case: Case, exchange: Exchange) -> bool:
    to = exchange.answered_at or exchange.sent_at
    return any(began <= to and exchange.sent_at <= ended for began, ended in case.record.outages)


def a_key_has_one_answer(case: Case) -> Iterator[str]:
    answers: dict[tuple[Any, ...], Exchange] = {}
    for exchange in case.record.exchanges:
        status = exchange.status or 500
        if exchange.key is None or status >= 500 or status == 409:
            continue
        first = answers.setdefault((exchange.bot, exchange.path, exchange.key, str(exchange.body)), exchange)
        if (first.status, first.answer) != (exchange.status, exchange.answer):
            yield f"{exchange.key} was answered {first.status} {first.answer} and {exchange.status} {exchange.answer}"


RULES = (
    every_step_is_allowed, nothing_stays_locked, a_url_has_one_open_job, results_are_done_jobs,
    a_hand_out_goes_to_one_bot, an_accepted_answer_is_kept, an_answer_has_its_effect_once,
    every_effect_was_sent_by_its_holder, a_refused_answer_changes_nothing, a_holder_is_not_refused,
    locks_change_for_their_holder, locks_end_by_time_only_when_it_is_over, hosts_are_not_asked_too_often,
    price_histories_agree, errors_are_clean, a_key_has_one_answer,
)  # fmt: skip


def breaches(record: Record) -> list[str]:
    """Every breach, with its rule's name; none is the verdict to hope for."""
    case = Case(record)
    return [f"{rule.__name__}: {breach}" for rule in RULES for breach in rule(case)]
