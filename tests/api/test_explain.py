"""`/api/v1/explain` and the links of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from crawler.crawls.models import FrontierURL
from tests.api.conftest import Api
from tests.unit.crawls.small_web import Site, allow_loopback, crawl, link, page, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(api_of: Callable[[str], Api]) -> Api:
    return api_of("viewer")


@pytest.fixture
def site(settings: Any, tmp_path: Path) -> Iterator[Site]:
    allow_loopback(settings, tmp_path)
    answers = {
        "/": page(link("/a", "one"), '<iframe src="/a"></iframe>', link("/b"), title="Seed"),
        "/a": page(link("/")),
    }
    with serving(answers) as served:
        crawl("made", [served.url("/")])
        yield served


def story(viewer: Api, url: str) -> Any:
    return viewer.get(f"/api/v1/explain?url={quote(url, safe='')}")


def links(viewer: Api, url: str, way: str, query: str = "") -> Any:
    url_hash = FrontierURL.objects.get(url=url).url_hash
    return viewer.get(f"/api/v1/documents/{url_hash}/{way}{query}")


def test_the_story_of_a_url(viewer: Api, site: Site) -> None:
    answer = story(viewer, site.url("/a?utm_source=mail#top"))
    assert answer.status_code == 200
    told = answer.json()
    assert (told["is_known"], told["verdict"]["state"], told["normal_form"]) == (True, "fetched", site.url("/a"))
    assert told["crawls"][0]["discovered_through"][0]["url"] == site.url("/")
    assert told["fetches"]["newest"][0]["fetched_at"].endswith("Z")
    assert told["robots"]["http_status"] == 404
    assert (told["outlinks"]["count"], told["inlinks"]["count"]) == (1, 2)


def test_an_unknown_url_is_an_answer_not_an_error(viewer: Api, site: Site) -> None:
    answer = story(viewer, "https://unmet.example/")
    assert (answer.status_code, answer.json()["is_known"]) == (200, False)
    assert answer.json()["judgements"][0]["refusal"]["reason"] == "domain"


@pytest.mark.parametrize("url", ["example.com", "javascript:alert(1)", "http://[::1"])
def test_what_is_no_url(viewer: Api, url: str) -> None:
    answer = story(viewer, url)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "INVALID_URL"
    assert answer.json()["error"]["details"]["field"] == "url"


@pytest.mark.parametrize("query", ["", "?url="])
def test_a_url_is_needed(viewer: Api, query: str) -> None:
    answer = viewer.get(f"/api/v1/explain{query}")
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, "url")


def test_outlinks_page_by_page(viewer: Api, site: Site) -> None:
    first = links(viewer, site.url("/"), "outlinks", "?limit=2").json()
    assert [one["anchor_text"] for one in first["outlinks"]] == ["one", ""]
    cursor = first["pagination"]["next_cursor"]
    second = links(viewer, site.url("/"), "outlinks", f"?limit=2&cursor={cursor}").json()
    assert [one["target_url"] for one in second["outlinks"]] == [site.url("/b")]
    assert second["pagination"] == {"limit": 2, "next_cursor": None}
    assert set(second["outlinks"][0]) == {
        "id", "source_url", "source_url_hash", "target_url", "target_url_hash", "anchor_text", "link_type",
        "discovered_at",
    }  # fmt: skip


def test_inlinks_page_by_page(viewer: Api, site: Site) -> None:
    first = links(viewer, site.url("/a"), "inlinks", "?limit=1").json()
    assert [(one["source_url"], one["anchor_text"]) for one in first["inlinks"]] == [(site.url("/"), "one")]
    second = links(viewer, site.url("/a"), "inlinks", f"?cursor={first['pagination']['next_cursor']}").json()
    assert [one["link_type"] for one in second["inlinks"]] == ["frame"]


@pytest.mark.parametrize("way", ["outlinks", "inlinks"])
def test_documents_that_are_not_there(viewer: Api, way: str) -> None:
    missing = viewer.get(f"/api/v1/documents/{'0' * 64}/{way}")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "NOT_FOUND")
    wrong = viewer.get(f"/api/v1/documents/nonsense/{way}")
    assert (wrong.status_code, wrong.json()["error"]["details"]["field"]) == (400, "url_hash")


@pytest.mark.parametrize(("query", "field"), [("cursor=x", "cursor"), ("cursor=-1", "cursor"), ("limit=0", "limit"),
    ("limit=1001", "limit"), (f"cursor={2**63}", "cursor")])  # fmt: skip
def test_wrong_pages(viewer: Api, site: Site, query: str, field: str) -> None:
    for way in ("outlinks", "inlinks"):
        answer = links(viewer, site.url("/"), way, f"?{query}")
        assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field)


def test_strangers_are_refused(nobody: Client) -> None:
    for path in ("explain?url=https://example.com", f"documents/{'0' * 64}/outlinks", f"documents/{'0' * 64}/inlinks"):
        assert nobody.get(f"/api/v1/{path}").status_code == 401
