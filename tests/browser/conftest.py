from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crawler.fetch.browser.chromium import has_sandbox, needed
from tests.browser.site import ALLOWED, FORBIDDEN, Listener, Site, Visitor, visiting


@pytest.fixture(scope="package")
def browser() -> Iterator[Visitor]:
    """One for all tests that do not wear it out. It may visit one address and no other."""
    with visiting() as visitor:
        yield visitor


@pytest.fixture(scope="package")
def sites() -> Iterator[tuple[Site, Site]]:
    made = Site(ALLOWED), Site(FORBIDDEN)
    yield made
    for site in made:
        site.close()


@pytest.fixture
def site(sites: tuple[Site, Site]) -> Site:
    """What the browser may visit."""
    sites[0].forget()
    return sites[0]


@pytest.fixture
def inner(sites: tuple[Site, Site]) -> Site:
    """What it may not."""
    sites[1].forget()
    return sites[1]


@pytest.fixture
def udp() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.socket.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    arguments = [] if has_sandbox() else ["--no-sandbox"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=needed(None), args=arguments)
        yield browser
        browser.close()
