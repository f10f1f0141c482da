"""The published description of /api/crawl changes only on purpose: `make snapshots` writes it anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pydantic import TypeAdapter

from crawler.bots import schemas
from tests.api.bots import Bot, make_jobs

SNAPSHOT = Path(__file__).parent / "openapi_crawl.json"
REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md"


@pytest.fixture
def served(db: None) -> dict[str, Any]:
    described: dict[str, Any] = Client().get("/api/crawl/openapi.json").json()
    return described


def test_the_description_is_the_recorded_one(served: dict[str, Any]) -> None:
    assert served == json.loads(SNAPSHOT.read_text()), "the API changed: look at it, then run make snapshots"


def test_every_shape_is_there(served: dict[str, Any]) -> None:
    named = {part.split('"')[0] for part in json.dumps(served["paths"]).split("#/components/schemas/")[1:]}
    assert named <= set(served["components"]["schemas"])


def test_every_path_is_documented(served: dict[str, Any]) -> None:
    page = REFERENCE.read_text()
    assert set(served["paths"]) == {
        f"/api/crawl/{name}/" for name in ("pull", "submit", "submit/batch", "heartbeat", "release")
    }
    assert not [path for path in served["paths"] if path not in page]


@pytest.mark.django_db
def test_the_documentation_page_loads_nothing_from_elsewhere() -> None:
    assert "https://" not in Client().get("/api/crawl/docs").content.decode()


@pytest.mark.django_db
def test_answers_have_the_described_shapes() -> None:
    make_jobs(4, max_retries=1)
    bot = Bot()
    pulled = bot.post("pull").json()
    done, failed, kept, given_back = [job["job_id"] for job in pulled["data"]["jobs"]]
    batch = [{"job_id": kept, "success": True, "price": 1, "currency": "EUR"}, {"job_id": kept}]
    answers: list[tuple[type, Any]] = [
        (schemas.PullOut, pulled),
        (schemas.DoneOut, bot.submit(done).json()),
        (schemas.NotDoneOut, bot.fail(failed).json()),
        (schemas.HeartbeatOut, bot.post("heartbeat", {"job_ids": [kept]}).json()),
        (schemas.ReleaseOut, bot.post("release", {"job_ids": [given_back]}).json()),
        (schemas.BatchOut, bot.post("submit/batch", {"results": batch}).json()),
        (schemas.ErrorOut, bot.submit(done).json()),
        (schemas.ErrorOut, bot.post("submit").json()),
    ]
    for shape, answer in answers:
        TypeAdapter(shape).validate_python(answer)
