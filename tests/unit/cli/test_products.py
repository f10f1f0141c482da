"""`crawler products …` as a person types it."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from crawler.accounts.models import AuditEntry
from crawler.bots.models import CrawlPolicy, ProductURL
from crawler.cli import app
from tests.api.bots import policy_for

pytestmark = pytest.mark.django_db
runner = CliRunner()
A, B = "https://example.com/a", "https://example.com/b"


@pytest.fixture(autouse=True)
def no_second_setup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.cli.products.load_django", lambda: None)


def run(*words: object, code: int = 0, stdin: str | None = None) -> Result:
    result = runner.invoke(app, ["products", *map(str, words)], input=stdin, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def test_importing_tells_what_came_of_it(tmp_path: Path) -> None:
    file = tmp_path / "urls.txt"
    file.write_text(f"# ours\n{A}\n{A}#x\n\nnonsense\n{B}\n")
    text = run("import", file).stdout
    assert [line.split()[0] for line in text.splitlines()[:4]] == ["2", "0", "1", "1"]
    assert "line 5: 'nonsense'" in text
    assert "2 URLs are covered by no policy, so nobody visits them: example.com (2)" in text
    assert f"crawler products import {file} --frequency-hours 24" in text
    again = run("import", file, "--frequency-hours", 12).stdout
    assert "2  known before" in again
    assert "1  policy made" in again
    assert "no policy" not in again
    assert CrawlPolicy.objects.get().frequency_hours == 12
    assert AuditEntry.objects.filter(action="imported", actor_kind="cli").count() == 2


def test_packed_files_and_standard_input(tmp_path: Path) -> None:
    policy_for("example.com")
    file = tmp_path / "urls.csv.gz"
    file.write_bytes(gzip.compress(f"name;url\nx;{A}\n".encode()))
    assert json.loads(run("import", file, "--json").stdout)["added"] == 1
    told = json.loads(run("import", "-", "--json", stdin=f'{{"url": "{B}"}}\n').stdout)
    assert (told["added"], told["refusals"], told["domains_without_policy"]) == (1, [], {})


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "urls"
    file.write_text(A)
    assert "1  would be added" in run("import", file, "--dry-run").stdout
    assert not ProductURL.objects.exists()


def test_a_file_of_nothing_but_nonsense(tmp_path: Path) -> None:
    file = tmp_path / "urls.txt"
    file.write_text("nonsense\n" * 30)
    assert "and 10 more" in run("import", file, code=1).stdout
    file.write_text("")
    assert "The file has no URLs" in run("import", file).stdout


def test_wrong_arguments(tmp_path: Path) -> None:
    assert "is a folder" in run("import", tmp_path, code=2).output
    assert "--form: 'xml' is unknown" in run("import", "-", "--form", "xml", code=2).output
    assert "--form: 'xml' is unknown" in run("export", "--form", "xml", code=2).output
    run("import", "-", "--frequency-hours", 0, code=2)


def test_listing_and_exporting(tmp_path: Path) -> None:
    policy_for("example.com", "Default")
    run("import", "-", stdin=f"{A}\n{B}\n")
    ProductURL.objects.filter(url=A).update(last_price=3, last_currency="EUR", last_in_stock=False, last_title="Tea")
    listing = run("list", "--limit", 1).stdout
    assert next(line.split()[:4] for line in listing.splitlines() if A in line) == [A, "3", "EUR", "no"]
    assert "The first 1;" in listing
    assert json.loads(run("list", "--json", "--sort", "price").stdout)["products"][0]["title"] == "Tea"
    file = tmp_path / "out.csv"
    run("export", "--out", file)
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    assert [(row["url"], row["price"]) for row in rows] == [(A, "3"), (B, "")]
    lines = run("export", "--form", "ndjson", "--domain", "example.com").stdout.splitlines()
    assert [json.loads(line)["url"] for line in lines] == [A, B]
