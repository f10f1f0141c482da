"""Loaded before Django's settings: gives the tests servers and a home of their own.

TEST_DATABASE=postgresql runs the tests on PostgreSQL instead of SQLite. TEST_SERVICES=off starts no
servers, for a quick look at tests of pure code. Servers start with the first
pytest process; the workers of pytest-xdist inherit their addresses.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.services.packages import Missing
from tests.services.servers import Services

# What a developer has set for their own platform must not reach the tests.
for name in ("DATABASE_URL", "REDIS_URL", "ARCHIVE_URL", "SECRET_KEY", "PORT", "ALLOWED_HOSTS", "LOG_LEVEL"):
    os.environ.pop(name, None)

ON_POSTGRES = os.environ.get("TEST_DATABASE") == "postgresql"
IS_FIRST = "TEST_POSTGRES_URL" not in os.environ

services = Services()
if IS_FIRST:
    os.environ["TEST_POSTGRES_URL"] = services.postgres_url
    os.environ["TEST_REDIS_URL"] = services.redis_url
    os.environ["CRAWLER_HOME"] = tempfile.mkdtemp(prefix="crawlspace-home-")
# Each worker has a Redis database of its own: the tests empty it.
REDIS_URL = os.environ["TEST_REDIS_URL"].rpartition("/")[0] + "/" + os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]
if ON_POSTGRES:
    os.environ["DATABASE_URL"] = os.environ["TEST_POSTGRES_URL"]


def pytest_configure(config: pytest.Config) -> None:
    if not IS_FIRST or config.option.collectonly or config.option.help or os.environ.get("TEST_SERVICES") == "off":
        return
    try:
        services.start()
    except Missing as reason:
        pytest.exit(f"tests: {reason}", returncode=3)


def pytest_unconfigure(config: pytest.Config) -> None:
    if IS_FIRST:
        services.stop()
        shutil.rmtree(Path(os.environ["CRAWLER_HOME"]), ignore_errors=True)


def pytest_report_header() -> str:
    return f"database: {'PostgreSQL' if ON_POSTGRES else 'SQLite'}"
