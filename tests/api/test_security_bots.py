"""A hostile bot, and a stranger, at /api/crawl: none touches what it did not pull, and nothing makes us stumble."""

from __future__ import annotations

import gzip
import json
from typing import Any
from uuid import uuid4

import pytest

from crawler.accounts.actors import SYSTEM
from crawler.bots import actions
from crawler.bots.models import CrawlJob, CrawlResult
from tests.api.bots import Bot, make_jobs
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db
ENDPOINTS = ["pull", "submit", "submit/batch", "heartbeat", "release"]
FOUND = {"success": True, "price": 1, "currency": "USD"}


def everything(job_id: str) -> dict[str, Any]:
    """What any of the endpoints wants."""
    return {"job_id": job_id, **FOUND, "results": [{"job_id": job_id, **FOUND}], "job_ids": [job_id]}


def is_clean(answer: Any, *statuses: int) -> dict[str, Any]:
    """In the bots' own shape, with one of the statuses."""
    assert answer.status_code in statuses, answer.content
    body: dict[str, Any] = answer.json()
    assert body["success"] is (answer.status_code < 400)
    if not body["success"]:
        assert set(body) == {"success", "error", "detail"}
    return body


# What others pulled


def test_another_bots_job_is_out_of_reach() -> None:
    make_jobs(1)
    owner, thief = Bot("bot-001"), Bot("bot-666")
    (job,) = owner.pull()
    before = CrawlJob.objects.values().get()
    answers = [thief.post(path, everything(job["job_id"])) for path in ENDPOINTS]
    told = "".join(answer.content.decode() for answer in answers)
    assert job["url"] not in told
    assert "bot-001" not in told
    assert is_clean(answers[1], 403)["error"] == "not_assigned"
    assert is_clean(answers[2], 200)["data"]["accepted"] == 0
    assert is_clean(answers[3], 200)["data"]["extended"] == []
    assert is_clean(answers[4], 200)["data"]["released"] == []
    assert CrawlJob.objects.values().get() == before
    assert not CrawlResult.objects.exists()
    assert owner.submit(job["job_id"]).status_code == 201


def test_a_thief_with_the_owners_fence_gets_no_further() -> None:
    make_jobs(1)
    owner, thief = Bot("bot-001"), Bot("bot-666")
    (job,) = owner.pull()
    assert thief.submit(job["job_id"], fence=job["fence"]).status_code == 403
    assert thief.submit(job["job_id"], raw_html="<p>mine now").status_code == 403


def test_unknown_jobs_and_others_jobs_are_lost_alike() -> None:
    make_jobs(1)
    owner, thief = Bot("bot-001"), Bot("bot-666")
    (job,) = owner.pull()
    nowhere = str(uuid4())
    for path in ("heartbeat", "release"):
        lost = thief.post(path, {"job_ids": [job["job_id"], nowhere]}).json()["data"]["lost"]
        assert lost == [job["job_id"], nowhere]


def test_a_bearer_token_does_not_make_another_bot() -> None:
    make_jobs(1)
    one, other = Bot("bot-001"), Bot("bot-002")
    shown = {"Authorization": f"Bearer {one.token}"}
    for path in ENDPOINTS:
        body = everything(str(uuid4())) | {"bot_id": other.bot_id}
        assert is_clean(one.send(path, body, **shown), 401)["error"] == "authentication_error"


def test_an_idempotency_key_belongs_to_its_bot() -> None:
    make_jobs(2)
    one, other = Bot("bot-001"), Bot("bot-002")
    (job,) = one.pull(1)
    key = {"Idempotency-Key": "same-for-both"}
    body = {"job_id": job["job_id"], **FOUND}
    done = one.post("submit", body, **key)
    assert one.post("submit", body, **key).content == done.content
    stolen = other.post("submit", body, **key)
    assert (stolen.status_code, stolen.json()["error"]) == (400, "job_not_locked")
    assert done.json()["data"]["result_id"] not in stolen.content.decode()


def test_a_stored_answer_is_not_for_who_lost_access() -> None:
    make_jobs(1)
    bot = Bot()
    key = {"Idempotency-Key": "k"}
    assert bot.post("pull", {}, **key).json()["data"]["count"] == 1
    old = {"bot_id": bot.bot_id, "api_token": bot.token}
    actions.rotate_token(SYSTEM, bot.config)
    assert bot.send("pull", old, **key).status_code == 401
    actions.set_enabled(SYSTEM, bot.config, False)
    assert bot.send("pull", old, **key).status_code == 401


def test_tokens_open_only_their_own_api(admin: Api) -> None:
    bot = Bot()
    for path in ENDPOINTS:
        body = everything(str(uuid4()))
        is_clean(bot.send(path, body, Authorization=f"Bearer {admin.token}"), 401)
        is_clean(bot.send(path, body | {"bot_id": "bot-001", "api_token": admin.token}), 401)
    assert bot.client.get("/api/v1/me", headers={"Authorization": f"Bearer {bot.token}"}).status_code == 401
    assert bot.client.get("/api/v1/me", headers={"Authorization": f"Bearer {admin.token}"}).status_code == 200


# Odd credentials

ODD_NAMES = ["\0", "a\0b", "\ud800", "x" * 100_000, ["bot-001"], {"a": 1}, 1, True, "bot-001\n", "' OR 1=1 --"]


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("bot_id", ODD_NAMES, ids=range(len(ODD_NAMES)))
def test_odd_names_are_unknown_names(path: str, bot_id: Any) -> None:
    bot = Bot()
    body = everything(str(uuid4())) | {"bot_id": bot_id}
    is_clean(bot.post(path, body), 401)
    is_clean(bot.post(path, body, **{"Idempotency-Key": "k"}), 401)


@pytest.mark.parametrize("token", ["", "\0", "ÿþ", "x" * 10_000])
def test_odd_bearer_tokens(token: str) -> None:
    is_clean(Bot().send("pull", {}, Authorization=f"Bearer {token}"), 401)


# Odd bodies


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b"[" * 100_000, b'{"a":' * 5000, b"\xff\xfe\xfd", b'{"bot_id": NaN}', b"{}x"],
    ids=range(10),
)
def test_what_is_no_json_object(body: bytes) -> None:
    for path in ENDPOINTS:
        assert "body" in is_clean(Bot(f"b-{path}").send(path, body), 400)["detail"]


def test_a_packed_body_is_named() -> None:
    bot = Bot()
    body = gzip.compress(json.dumps({"bot_id": bot.bot_id, "api_token": bot.token}).encode())
    answer = is_clean(bot.send("pull", body, **{"Content-Encoding": "gzip"}), 400)
    assert "Content-Encoding gzip" in answer["detail"]["body"][0]


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_other_methods(method: str) -> None:
    bot = Bot()
    for path in ENDPOINTS:
        answer = bot.client.generic(method, f"/api/crawl/{path}/", "{}", content_type="application/json")
        assert is_clean(answer, 405)["error"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["", "pull//", "%ff", "nothing/"])
def test_a_post_anywhere_else(path: str) -> None:
    answer = Bot().client.post(f"/api/crawl/{path}", {}, content_type="application/json")
    is_clean(answer, 404, 405)


def test_a_body_that_is_too_large() -> None:
    bot = Bot()
    body = {"job_id": str(uuid4()), **FOUND, "raw_html": "x" * 16 * 1024 * 1024}
    assert is_clean(bot.post("submit", body), 413)["error"] == "validation_error"


ODD_FIELDS = [
    '"fence": 1000000000000000000000000000000',
    '"fence": 9223372036854775808',
    '"fence": -1',
    '"price": 1e999',
    '"price": 1e-999',
    '"price": 1e99999999999999999999',
    '"price": 1000000000000000000000000000000',
    '"price": "NaN"',
    '"price": "-Infinity"',
    '"price": "1_000"',
    '"price": "١٢"',
    '"price": ""',
    '"price": "."',
    '"price": 1.00000000000000000000000000001',
    f'"price": 0.{"0" * 5000}',
    '"parsed_data": {"a": 1e999}',
    '"parsed_data": {"a": -1e999}',
    '"parsed_data": {"\\u0000": 1}',
    '"parsed_data": {"a": ["\\u0000"]}',
    '"parsed_data": {"a": "\\ud800"}',
    '"parsed_data": {"a": ' + "[" * 500 + '"\\u0000"' + "]" * 500 + "}",
    '"parsed_data": {"a": ' + "[" * 100 + "]" * 100 + "}",
    '"parsed_data": ' + '{"a": ' * 101 + "1" + "}" * 101,
    '"title": "\\u0000"',
    '"title": "\\udfff"',
    '"currency": "\\u0000\\u0000\\u0000"',
    '"currency": "ıSD"',
]


@pytest.mark.parametrize("field", ODD_FIELDS, ids=[field[:40] for field in ODD_FIELDS])
def test_odd_values_are_refused_by_name(field: str) -> None:
    make_jobs(1)
    bot = Bot()
    (job,) = bot.pull()
    start = json.dumps({"bot_id": bot.bot_id, "api_token": bot.token, "job_id": job["job_id"], **FOUND})[:-1]
    answer = is_clean(bot.send("submit", f"{start}, {field}}}"), 400)
    assert list(answer["detail"]) == [field.split('"')[1]]
    assert bot.submit(job["job_id"]).status_code == 201, "the lock stands"


GOOD_FIELDS = [
    '"parsed_data": {"a": 1, "a": 2}',
    '"parsed_data": {"a": "\\\\u0000"}',
    '"parsed_data": {"a": ' + "[" * 98 + "]" * 98 + "}",
    '"parsed_data": {"a": [' + "[]," * 300 + "[]]}",
    f'"parsed_data": {{"a": {10**400}}}',
    '"raw_html": "a\\u0000b\\ud800c"',
    f'"title": "{"x" * 100_000}"',
    '"price": " 5.50 "',
    '"price": 999999999999.999999',
    '"price": -0.0',
    '"price": 5e-1',
    '"currency": "usd"',
    '"nobody_knows": {"this": "field"}',
]


@pytest.mark.parametrize("field", GOOD_FIELDS, ids=[field[:40] for field in GOOD_FIELDS])
def test_unusual_values_are_taken(field: str) -> None:
    make_jobs(1)
    bot = Bot()
    (job,) = bot.pull()
    start = json.dumps({"bot_id": bot.bot_id, "api_token": bot.token, "job_id": job["job_id"], **FOUND})[:-1]
    is_clean(bot.send("submit", f"{start}, {field}}}"), 201)
    assert CrawlResult.objects.count() == 1


@pytest.mark.parametrize(
    "field",
    ['"max_jobs": 1e999', '"max_jobs": "nan"', '"wait_seconds": "nan"', '"wait_seconds": -1e999',
     '"domain": "\\u0000"', '"domain": "\\ud800"', '"domain": [1]', '"max_jobs": null'],
)  # fmt: skip
def test_odd_wishes(field: str) -> None:
    bot = Bot()
    start = json.dumps({"bot_id": bot.bot_id, "api_token": bot.token})[:-1]
    answer = is_clean(bot.send("pull", f"{start}, {field}}}"), 400)
    assert list(answer["detail"]) == [field.split('"')[1]]


@pytest.mark.parametrize("domain", ["%", "_", "\\", "' OR 1=1 --", "ex%ple", "e_ample"])
def test_a_domain_filter_is_text_not_a_pattern(domain: str) -> None:
    make_jobs(1)
    assert Bot().pull(domain=domain) == []


# Guessing


def test_wrong_tokens_are_throttled_and_a_new_bot_still_gets_in() -> None:
    make_jobs(1)
    bot = Bot()
    guesses = [bot.send("pull", {"bot_id": "bot-001", "api_token": f"guess {n}"}) for n in range(102)]
    assert [answer.status_code for answer in guesses[98:]] == [401, 401, 429, 429]
    assert is_clean(guesses[-1], 429)["error"] == "rate_limited"
    assert int(guesses[-1]["Retry-After"]) > 0
    assert len(bot.pull()) == 1, "a neighbour's failures are not held against it"
