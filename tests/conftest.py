"""Where the tests' database is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.db import connections

from tests.plugin import ON_POSTGRES


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """A file, as everywhere else. In memory, threads would share a cache whose locks nobody waits for."""
    database = connections["default"].settings_dict
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    if ON_POSTGRES:
        database["TEST"]["NAME"] = f"test_crawlspace_{worker}"
    else:
        database["TEST"]["NAME"] = str(Path(os.environ["CRAWLER_HOME"]) / f"test-{worker}.sqlite3")
