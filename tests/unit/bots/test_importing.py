"""Files of product URLs."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest

from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import AuditEntry
from crawler.bots.identity import identify
from crawler.bots.models import CrawlPolicy, ProductURL
from crawler.bots.products import importing
from crawler.bots.products.files import Form, read_entries
from crawler.bots.products.importing import ImportSummary, import_product_urls
from crawler.foundation.errors import InvalidInput, TooLarge
from tests.api.bots import policy_for

A, B, C = (f"https://example.com/{name}" for name in "abc")


def entries(text: str | bytes, form: Form | None = None) -> list[tuple[int, str]]:
    return [(one.line, one.refusal or one.text) for one in read_entries(stream(text), form)]


def stream(text: str | bytes) -> io.BytesIO:
    return io.BytesIO(text.encode() if isinstance(text, str) else text)


def brought(text: str | bytes, **options: Any) -> ImportSummary:
    return import_product_urls(stream(text), by=SYSTEM, **options)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{A}\n{B}", [(1, A), (2, B)]),
        (f"\ufeff# ours\n\n  {A}  \r\n{B}\n", [(3, A), (4, B)]),
        (f"url\n{A}\n", [(2, A)]),
        (f"\n# kettles\nname;URL;price\nx;{A};3,50\n# no\n\n;{B};\n", [(4, A), (7, B)]),
        (f'name,url\n"a\nb",{A}\nc,"{B}"\n', [(3, A), (4, B)]),
        (f"link\tname\n{A}\tx\n", [(2, A)]),
        (f'{{"url": "{A}", "sku": 1}}\n"{B}"\n', [(1, A), (2, B)]),
        (f'[\n"{A}",\n{{"url": "{B}"}}]', [(1, A), (2, B)]),
        (json.dumps({"urls": [A, B]}, indent=1), [(1, A), (2, B)]),
        ("", []),
        ("# nothing\n", []),
    ],
)
def test_every_form_is_told_by_its_first_line(text: str, found: list[tuple[int, str]]) -> None:
    assert entries(text) == found
    assert entries(gzip.compress(text.encode())) == found


def test_a_csv_without_a_header_has_its_urls_where_the_first_line_has_one() -> None:
    assert entries(f"1;{A}\n2;{B}\n", Form.CSV) == [(1, A), (2, B)]


def test_lines_that_say_something_else() -> None:
    assert entries('{"url": 3}\nno json\n[1]\n', Form.NDJSON) == [
        (1, 'has no text "url"'),
        (2, "not JSON: Expecting value: line 1 column 1 (char 0)"),
        (3, "neither an object nor a text"),
    ]
    assert entries(f"a,url\nx\ny,{A}\n", Form.CSV) == [(2, "has no column 2"), (3, A)]
    long = "https://example.com/" + "x" * 200_000
    assert entries(f"{long}\n{A}\n") == [(1, "longer than 65536 bytes"), (2, A)]
    assert entries(f'url\n"{"x" * 60_000}\n{"y" * 60_000}\n{"z" * 60_000}\n{A}\n', Form.CSV)[-1] == (5, A)


@pytest.mark.parametrize(
    ("text", "form", "reason"),
    [
        ("name,price\nx,3\n", Form.CSV, "no column named url; its first line has: name, price"),
        ("{", Form.JSON, "Not JSON"),
        ('{"a": 1}', Form.JSON, 'an object with "urls"'),
        (gzip.compress(b"x" * 100_000)[:60], None, "gzip file is damaged"),
        (f"{A}\n".encode("utf-16"), None, "UTF-16"),
    ],
)
def test_files_that_cannot_be_read(text: str | bytes, form: Form | None, reason: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        entries(text, form)
    assert reason in str(wrong.value.reason)


def test_json_of_any_size_is_not_read() -> None:
    with pytest.raises(TooLarge):
        entries(b"[" + b" " * 17_000_000 + b"]")


@pytest.mark.django_db
def test_what_came_of_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    policy_for("example.com", url_pattern="/[ab]$")
    text = f"{A}\n{A}?utm_source=x\nftp://example.com/\n{B}\n{A}#top\nnonsense\n{C}\n".encode() + b"https://ex\xff/\n"
    summary = brought(text, name="ours.txt")
    assert (summary.read, summary.added, summary.known, summary.repeated, summary.refused) == (8, 3, 0, 2, 3)
    assert [one.line for one in summary.refusals] == [3, 6, 8]
    assert (summary.without_policy, summary.domains_without_policy) == (1, {"example.com": 1})
    again = brought(text)
    assert (again.added, again.known, again.repeated, again.without_policy) == (0, 3, 2, 1)
    entry = AuditEntry.objects.filter(action="imported").last()
    assert entry is not None
    assert (entry.target_label, entry.after) == (
        "ours.txt",
        {"read": 8, "added": 3, "known": 0, "repeated": 2, "refused": 3},
    )


@pytest.mark.django_db
def test_a_dry_run_writes_nothing() -> None:
    brought(A)
    summary = brought(f"{A}\n{B}\n{B}\nx\n", dry_run=True)
    assert (summary.added, summary.known, summary.repeated, summary.refused) == (1, 1, 1, 1)
    assert ProductURL.objects.count() == 1
    assert AuditEntry.objects.filter(action="imported").count() == 1


@pytest.mark.django_db
def test_policies_for_domains_that_have_none() -> None:
    policy_for("example.com", "Offers", url_pattern="/offers/")
    summary = brought(f"{A}\nhttps://shop.example.org/1\nhttps://shop.example.org/2\n", frequency_hours=6)
    assert (summary.policies_made, summary.domains_without_policy) == (1, {"example.com": 1})
    made = CrawlPolicy.objects.get(name="Default")
    assert (made.domain.name, made.frequency_hours, made.urls.count()) == ("shop.example.org", 6, 2)
    assert brought("https://shop.example.org/3", frequency_hours=6).policies_made == 0


@pytest.mark.django_db
def test_an_import_that_was_stopped_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 1)

    class Stopped(Exception):
        pass

    def stop(summary: ImportSummary) -> None:
        if summary.read == 2:
            raise Stopped

    with pytest.raises(Stopped):
        brought(f"{A}\n{B}\n{C}\n", on_progress=stop)
    assert ProductURL.objects.count() == 2
    again = brought(f"{A}\n{B}\n{C}\n")
    assert (again.added, again.known) == (1, 2)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["a\\b?x=\\n\\t\\.", "ä?ö=%09", "?q=" + "'\"{}%", "\\."])
def test_urls_with_odd_signs_arrive_whole(path: str) -> None:
    url = f"https://example.com/{path}"
    assert brought(url).added == 1
    assert ProductURL.objects.get().url == identify(url).url


@pytest.mark.django_db
def test_two_imports_in_one_transaction_do_not_mix() -> None:
    assert brought(A).added == 1
    ProductURL.objects.all().delete()
    assert brought(B).added == 1
    assert [one.url for one in ProductURL.objects.all()] == [B]
