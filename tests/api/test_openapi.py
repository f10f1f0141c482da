"""The published description of the API changes only on purpose: `make snapshots` writes it anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client

SNAPSHOT = Path(__file__).parent / "openapi_v1.json"


@pytest.mark.django_db
def test_the_description_is_the_recorded_one() -> None:
    served = Client().get("/api/v1/openapi.json").json()
    assert served == json.loads(SNAPSHOT.read_text()), "the API changed: look at it, then run make snapshots"


@pytest.mark.django_db
def test_the_documentation_page_loads_nothing_from_elsewhere() -> None:
    page = Client().get("/api/v1/docs").content.decode()
    assert "https://" not in page
    assert "swagger" in page
