"""`/api/v1/products`: lists, single products, adding, importing, removing, exporting."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from crawler.accounts.models import AuditEntry
from crawler.bots import actions
from crawler.bots.identity import identify
from crawler.bots.models import CrawlJob, CrawlPolicy, ProductURL
from crawler.bots.products import listing
from tests.api.bots import Bot, make_jobs, policy_for
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db
URLS = [f"https://shop{shop}.example.com/{name}" for shop in (1, 2) for name in ("a", "b", "c")]


@pytest.fixture
def viewer(api_of: Callable[[str], Api]) -> Api:
    return api_of("viewer")


@pytest.fixture
def operator(api_of: Callable[[str], Api]) -> Api:
    return api_of("operator")


@pytest.fixture
def shops() -> CrawlPolicy:
    """Six products of two domains. The first has a policy; its products have prices."""
    policy = policy_for("shop1.example.com", respect_host_limits=False)
    actions.add_product_urls(URLS)
    actions.schedule_due()
    bot = Bot()
    prices = {"a": ("10.10", "EUR", True), "b": ("9.99", "USD", True), "c": ("123456789012.123456", "EUR", False)}
    for job in bot.pull():
        price, currency, in_stock = prices[job["url"][-1]]
        bot.submit(job["job_id"], price=price, currency=currency, in_stock=in_stock, title=f"Product {job['url'][-1]}")
    return policy


def ask(api: Api, query: str = "", path: str = "") -> Any:
    return api.get(f"/api/v1/products{path}{'?' if query else ''}{query}")


def urls(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [one["url"].removeprefix("https://") for one in answer.json()["products"]]


def test_products_have_their_last_price_exactly(viewer: Api, shops: CrawlPolicy) -> None:
    answer = ask(viewer, "domain=shop1.example.com")
    assert urls(answer) == [f"shop1.example.com/{name}" for name in "abc"]
    assert '"price": 123456789012.123456,' in answer.content.decode()
    first = answer.json()["products"][0]
    assert set(first) == set(listing.Product._fields)
    assert (first["price"], first["currency"], first["in_stock"], first["policy_id"], first["policy"]) == (
        10.1, "EUR", True, shops.pk, shops.name,
    )  # fmt: skip
    bare = ask(viewer, "domain=shop2.example.com").json()["products"][0]
    assert (bare["price"], bare["policy"], bare["next_due_at"], bare["last_result_at"]) == (None, None, None, None)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("domain=SHOP2.example.com", ["2/a", "2/b", "2/c"]),
        ("domain=nowhere.example", []),
        ("q=https://shop1.example.com/", ["1/a", "1/b", "1/c"]),
        ("q=https://shop2.example.com/b", ["2/b"]),
        ("q=https://shop", ["1/a", "1/b", "1/c", "2/a", "2/b", "2/c"]),
        ("url=" + quote("HTTPS://shop2.example.com/x/../b?utm_source=mail#top"), ["2/b"]),
        ("in_stock=true", ["1/a", "1/b"]),
        ("in_stock=false", ["1/c"]),
        ("currency=eur", ["1/a", "1/c"]),
        ("min_price=9.99&max_price=10.1", ["1/a", "1/b"]),
        ("min_price=10.100001", ["1/c"]),
        ("sort=price", ["1/b", "1/a", "1/c"]),
        ("sort=-price&currency=EUR", ["1/c", "1/a"]),
        ("sort=-url&limit=2", ["2/c", "2/b"]),
        ("changed_since=2020-01-01", []),
        ("domain=shop1.example.com&in_stock=true&sort=-url", ["1/b", "1/a"]),
    ],
)
def test_filters(viewer: Api, shops: CrawlPolicy, query: str, found: list[str]) -> None:
    assert urls(ask(viewer, query)) == [f"shop{one[0]}.example.com{one[1:]}" for one in found]


def test_the_products_of_a_policy(viewer: Api, shops: CrawlPolicy) -> None:
    assert len(urls(ask(viewer, f"policy={shops.pk}"))) == 3


@pytest.mark.parametrize("sort", ["url", "-url", "price", "-price", "changed", "-changed"])
def test_pages_have_everything_once(viewer: Api, shops: CrawlPolicy, sort: str) -> None:
    ProductURL.objects.update(last_price=3, last_changed_at="2026-01-01T00:00:00.123456Z")
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        answer = ask(viewer, f"sort={sort}&limit=4{f'&cursor={cursor}' if cursor else ''}")
        seen += urls(answer)
        cursor = answer.json()["pagination"]["next_cursor"]
    assert sorted(seen) == [url.removeprefix("https://") for url in URLS]
    assert ask(viewer, "changed_since=2026-01-01").json()["products"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("sort=name", "sort"),
        ("cursor=x", "cursor"),
        ("cursor=W10", "cursor"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("q=shop", "q"),
        ("url=nonsense", "url"),
        ("currency=EURO", "currency"),
        ("min_price=-1", "min_price"),
        ("max_price=nan", "max_price"),
        ("changed_since=yesterday", "changed_since"),
        ("policy=77", "policy"),
        ("policy=x", "policy"),
        ("in_stock=maybe", "in_stock"),
    ],
)
def test_wrong_questions_name_the_field(viewer: Api, query: str, field: str) -> None:
    for path in ("", "/export"):
        if path and query.startswith(("cursor", "limit")):
            continue
        answer = ask(viewer, query, path)
        assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field), answer.content


def test_a_cursor_belongs_to_its_order(viewer: Api, shops: CrawlPolicy) -> None:
    cursor = ask(viewer, "limit=1").json()["pagination"]["next_cursor"]
    assert ask(viewer, f"sort=price&cursor={cursor}").status_code == 400


def test_one_product(viewer: Api) -> None:
    make_jobs(1)
    bot = Bot()
    (job,) = bot.pull()
    url_hash = ProductURL.objects.get().pk
    waiting = ask(viewer, path=f"/{url_hash}").json()
    assert (waiting["url"], waiting["last_result"], waiting["next_due_at"]) == (job["url"], None, None)
    assert (waiting["open_job"]["job_id"], waiting["open_job"]["locked_by"]) == (job["job_id"], "bot-001")
    bot.submit(job["job_id"], price="0.10", title="Tea", parsed_data={"sku": 1})
    answer = ask(viewer, path=f"/{url_hash}")
    done = answer.json()
    assert (done["open_job"], done["next_due_at"] is None, done["title"]) == (None, False, "Tea")
    assert done["last_result"]["parsed_data"] == {"sku": 1}
    assert answer.content.decode().count('"price": 0.1,') == 2


def test_products_that_are_not_there(viewer: Api, operator: Api) -> None:
    for path in ("", "/prices", "/prices/export"):
        assert ask(viewer, path=f"/{'0' * 64}{path}").status_code == 404
    assert operator.send("DELETE", f"/api/v1/products/{'0' * 64}").status_code == 404
    wrong = ask(viewer, path="/nonsense")
    assert (wrong.status_code, wrong.json()["error"]["details"]["field"]) == (400, "url_hash")


def post(api: Api, body: object) -> Any:
    return api.send("POST", "/api/v1/products", body)


def test_adding_one_and_many(operator: Api) -> None:
    first = post(operator, {"url": URLS[0]})
    told = first.json()
    assert (first.status_code, told["added"], told["products"][0]["url_hash"]) == (201, 1, identify(URLS[0]).url_hash)
    assert (told["without_policy"], told["domains_without_policy"]) == (1, {"shop1.example.com": 1})
    again = post(operator, {"urls": [URLS[0], f"{URLS[0]}#x"]})
    assert (again.status_code, again.json()["known"], again.json()["repeated"]) == (200, 1, 1)
    assert len(again.json()["products"]) == 1
    some = post(operator, {"urls": [*URLS, "nonsense"], "frequency_hours": 12}).json()
    assert (some["added"], some["refused"], some["policies_made"]) == (5, 1, 2)
    assert some["refusals"][0]["line"] == 7
    assert CrawlPolicy.objects.filter(frequency_hours=12).count() == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "nonsense"}, "url"),
        ({}, "url"),
        ({"url": "https://a.example/", "urls": []}, "urls"),
        ({"urls": []}, "urls"),
        ({"urls": ["https://a.example/"] * 1001}, "urls"),
        ({"urls": [3]}, "urls.0"),
        ({"urls": ["https://a.example/"], "frequency_hours": 0}, "frequency_hours"),
        ({"adress": "https://a.example/"}, "adress"),
    ],
)
def test_what_cannot_be_added(operator: Api, body: object, field: str) -> None:
    answer = post(operator, body)
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field)
    assert not ProductURL.objects.exists()


def send_file(api: Api, text: str | bytes, content_type: str, query: str = "") -> Any:
    path = f"/api/v1/products/import{query}"
    body = text.encode() if isinstance(text, str) else text
    return api.client.generic("POST", path, body, content_type=content_type)


CSV = "name;url\nx;https://a.example/1\ny;https://a.example/1\nz;ftp://a.example/\n"


@pytest.mark.parametrize("content_type", ["text/csv", "text/plain", "application/x-www-form-urlencoded", ""])
def test_importing_a_csv(operator: Api, content_type: str) -> None:
    for text in (CSV, gzip.compress(CSV.encode())):
        answer = send_file(operator, text, content_type)
        assert answer.status_code == 200, answer.content
        told = answer.json()
        assert (told["read"], told["added"] + told["known"], told["repeated"], told["refused"]) == (3, 1, 1, 1)
        assert told["refusals"] == [{"line": 4, "text": "ftp://a.example/", "reason": told["refusals"][0]["reason"]}]
    assert ProductURL.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "content_type"),
    [
        ('{"url": "https://a.example/1"}\n', "application/x-ndjson"),
        ('{"urls": ["https://a.example/1"]}', "application/json; charset=utf-8"),
        ('["https://a.example/1"]', "application/json"),
        ("https://a.example/1", "text/plain"),
    ],
)
def test_importing_other_forms(operator: Api, text: str, content_type: str) -> None:
    assert send_file(operator, text, content_type).json()["added"] == 1


def test_importing_by_a_form(operator: Api) -> None:
    file = io.BytesIO(CSV.encode())
    file.name = "ours.csv"
    answer = operator.client.post("/api/v1/products/import?frequency_hours=2", {"file": file})
    assert (answer.json()["added"], answer.json()["policies_made"]) == (1, 1)
    assert AuditEntry.objects.get(action="imported").target_label == "ours.csv"


def test_a_dry_run(operator: Api) -> None:
    assert send_file(operator, CSV, "text/csv", "?dry_run=true").json()["added"] == 1
    assert not ProductURL.objects.exists()


@pytest.mark.parametrize(
    ("text", "content_type", "field"),
    [("", "text/csv", "body"), ("a,b\n", "text/csv", "file"), ("{", "application/json", "file")],
)
def test_files_that_cannot_be_read(operator: Api, text: str, content_type: str, field: str) -> None:
    answer = send_file(operator, text, content_type)
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field)


def test_a_body_beyond_all_measure(operator: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.bots.products.uploads.MOST_BYTES", 10)
    assert send_file(operator, CSV, "text/csv").status_code == 413


def test_importing_once_by_an_idempotency_key(operator: Api) -> None:
    for _ in range(2):
        answer = operator.send("POST", "/api/v1/products/import", '["https://a.example/1"]', **{"Idempotency-Key": "k"})
        assert answer.json()["added"] == 1


def test_removing(operator: Api) -> None:
    make_jobs(1)
    path = f"/api/v1/products/{ProductURL.objects.get().pk}"
    assert operator.send("DELETE", path).status_code == 204
    assert not ProductURL.objects.exists()
    assert not CrawlJob.objects.exists()
    assert AuditEntry.objects.filter(action="removed").exists()


def exported(api: Api, query: str = "", **headers: str) -> tuple[str, str]:
    answer = api.get(f"/api/v1/products/export{query}", **headers)
    assert answer.status_code == 200, answer.content
    return answer["Content-Type"], b"".join(answer.streaming_content).decode()


def test_exporting_csv(viewer: Api, shops: CrawlPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "EXPORT_BATCH", 2)
    ProductURL.objects.filter(url=URLS[0]).update(last_title='=HYPERLINK("x"), "ä"')
    kind, text = exported(viewer)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert kind == "text/csv; charset=utf-8"
    assert [row["url"] for row in rows] == URLS
    assert (rows[0]["title"], rows[2]["price"], rows[2]["in_stock"]) == (
        "'=HYPERLINK(\"x\"), \"ä\"", "123456789012.123456", "false",
    )  # fmt: skip
    assert (rows[3]["price"], rows[3]["policy"]) == ("", "")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_titles_never_become_formulas(viewer: Api, shops: CrawlPolicy, start: str) -> None:
    ProductURL.objects.filter(url=URLS[0]).update(last_title=f"{start}1+1")
    _, text = exported(viewer, "?domain=shop1.example.com")
    assert next(csv.DictReader(io.StringIO(text)))["title"] == f"'{start}1+1"


def test_exporting_ndjson(viewer: Api, shops: CrawlPolicy) -> None:
    by_parameter = exported(viewer, "?format=ndjson&sort=price")
    by_header = exported(viewer, "?sort=price", Accept="application/x-ndjson")
    for kind, text in (by_parameter, by_header):
        assert kind == "application/x-ndjson"
        assert '"price": 123456789012.123456,' in text
        assert [json.loads(line)["currency"] for line in text.splitlines()] == ["USD", "EUR", "EUR"]


def test_an_empty_export_has_its_header(viewer: Api) -> None:
    assert exported(viewer)[1].startswith("url_hash,url,domain,")
    assert exported(viewer, "?format=NDJSON")[1] == ""
    assert ask(viewer, "format=xml", "/export").json()["error"]["details"]["field"] == "format"


def test_who_may_what(viewer: Api, nobody: Client) -> None:
    assert post(viewer, {"url": URLS[0]}).status_code == 403
    assert send_file(viewer, CSV, "text/csv").status_code == 403
    assert viewer.send("DELETE", f"/api/v1/products/{'0' * 64}").status_code == 403
    for path in ("", "/export", "/changes", f"/{'0' * 64}", f"/{'0' * 64}/prices", f"/{'0' * 64}/prices/export"):
        assert nobody.get(f"/api/v1/products{path}").status_code == 401
