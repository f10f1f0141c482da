from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.crawls.small_web import Answer, Site, allow_loopback, link, page, serving

STORY_SITE = {
    "/robots.txt": Answer(body="User-agent: *\nDisallow: /private/\nCrawl-delay: 0\n", content_type="text/plain"),
    "/": page(
        link("/a", "first"), '<iframe src="/a"></iframe>', link("/private/x"), link("/old"), link("/missing"),
        link("/paper"), link("/copy"), link("/shy", more='rel="nofollow"'), link("https://elsewhere.example/"),
        title="The seed",
    ),
    "/a": page(link("/deep", "deeper"), link("/", "home"), title="Page [A]"),
    "/copy": page(link("/deep", "deeper"), link("/", "home"), title="Page [A]"),
    "/deep": page(title="Deep"),
    "/old": Answer(301, location="/new"),
    "/new": page(title="New"),
    "/paper": Answer(body="%PDF", content_type="application/pdf"),
}  # fmt: skip


@pytest.fixture
def loopback(settings: Any, tmp_path: Path) -> None:
    allow_loopback(settings, tmp_path)


@pytest.fixture
def site(loopback: None) -> Iterator[Site]:
    with serving(dict(STORY_SITE)) as served:
        yield served
