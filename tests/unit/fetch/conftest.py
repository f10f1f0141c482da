"""A scripted server and a fetcher that may reach it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crawler.fetch.client import Fetcher
from tests.conformance.scripted_server import ScriptedServer
from tests.unit.fetch.loopback import loopback_fetcher


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as started:
        yield started


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    with loopback_fetcher() as made:
        yield made
