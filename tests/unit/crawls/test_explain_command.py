"""`crawler explain` as a person types it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from crawler.cli import app
from crawler.cli.explain import look_into
from crawler.cli.story import friendly
from crawler.crawls import actions
from crawler.crawls.queries.explain import explain
from tests.unit.crawls.small_web import Site, crawl, create, link, page, park, serving

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_second_setup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.cli.explain.load_django", lambda: None)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["explain", *words])


def test_the_story_as_text(site: Site) -> None:
    crawl("story", [site.url("/")])
    told = run(site.url("/a/?utm_source=x#part"))
    assert told.exit_code == 0, told.output
    lines = told.output.splitlines()
    assert lines[0] == site.url("/a/?utm_source=x")
    assert lines[1].startswith("It was fetched at ")
    for expected in ("  title      Page [A]", f"  found on      {site.url('/')} (depth 0, by seed)", "Links in: 2"):
        assert expected in lines
    assert all(line == line.rstrip() for line in lines)
    assert "\x1b" not in told.output, "no colours in a pipe"


@pytest.mark.parametrize("path", ["/private/x", "/missing", "/old", "/new", "/paper", "/shy", "/unmet"])
def test_every_kind_of_story_is_told(site: Site, path: str) -> None:
    crawl("story", [site.url("/")])
    told = run(site.url(path))
    assert told.exit_code == (1 if path == "/unmet" else 0), told.output
    assert explain(site.url(path)).verdict.text in told.output


def test_pages_do_not_steer_the_terminal(loopback: None) -> None:
    title = "\x1b]0;owned\x07 [/x]"
    with serving({"/": page(link("/x[1]", "[bold]a\x1b[2J[/nothing]"), title=title)}) as odd:
        crawl("odd", [odd.url("/")])
        told = run(odd.url("/"))
        linked = run(odd.url("/x[1]"))
    assert (told.exit_code, linked.exit_code) == (0, 0), told.output
    assert "\x1b" not in told.output + linked.output
    assert "[bold]a\ufffd[2J[/nothing]" in told.output
    assert "\ufffd]0;owned\ufffd [/x]" in told.output


def test_a_parked_domain_is_told() -> None:
    actions.start_crawl(create("parked", ["https://example.com/"]))
    park("https://example.com")
    told = run("https://example.com/")
    assert "(robots.txt answered 503)." in told.output
    assert "unreachable (HTTP 503)" in told.output


def test_json_is_the_api_object(site: Site) -> None:
    crawl("story", [site.url("/")])
    told = run(site.url("/a"), "--json")
    assert told.exit_code == 0
    story = json.loads(told.output)
    assert story["crawls"][0]["status"] == "completed"
    assert story["asked_at"].endswith("Z")
    assert story["document"]["title"] == "Page [A]"


def test_unknown_urls_and_nonsense() -> None:
    told = run("https://example.com/", "--json")
    assert (told.exit_code, json.loads(told.output)["is_known"]) == (1, False)
    told = run("example.com")
    assert told.exit_code == 2
    assert "give the whole URL" in told.output


def test_a_folder_without_a_crawl(tmp_path: Path) -> None:
    told = run("https://example.com/", "--out", str(tmp_path / "none"))
    assert told.exit_code == 2
    assert "there is no crawl in" in told.output
    assert not (tmp_path / "none").exists()


def test_a_folder_with_a_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CRAWLER_HOME", "DATABASE_URL", "ARCHIVE_URL", "DJANGO_SETTINGS_MODULE"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # given back afterwards
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.delenv("ARCHIVE_URL")
    (tmp_path / "crawl.sqlite3").touch()
    look_into(tmp_path)
    assert os.environ["CRAWLER_HOME"] == str(tmp_path)
    assert os.environ["DATABASE_URL"] == f"sqlite:///{tmp_path}/crawl.sqlite3"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "now"), (-1, "1 s ago"), (90, "in 1 min"), (-7200, "2 h ago"), (200_000, "in 2 d")],
)
def test_friendly_times(seconds: int, text: str) -> None:
    now = datetime(2026, 11, 15, 10, 0, tzinfo=UTC)
    moment = now + timedelta(seconds=seconds)
    assert friendly(moment, now) == f"{moment:%Y-%m-%d %H:%M:%S} UTC ({text})"
    assert friendly(None, now) is None
