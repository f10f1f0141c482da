"""`crawler bot run` at a real platform and a shop on this machine: what is stored, what is asked, how it ends."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.faults.bot_server import BotServer
from tests.faults.shop import Answer, Shop, leads_to, product, zipped
from tests.services.servers import free_port

pytestmark = pytest.mark.postgresql

NOTHING = {"price": None, "currency": None, "confidence": 0.0}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BotServer]:
    made = BotServer(tmp_path_factory.mktemp("bot-run"))
    made.platform.settings["FETCH_ALLOWED_NETWORKS"] = "127.0.0.0/8"
    yield made
    made.close()


@pytest.fixture
def shop() -> Iterator[Shop]:
    made = Shop()
    yield made
    made.close()


def host_of(shop: Shop) -> str:
    return shop.url("").removeprefix("http://")


def order_visits(server: BotServer, shop: Shop, *paths: str, **policy: Any) -> None:
    server.add_jobs(host_of(shop), [path.removeprefix("/") for path in paths], scheme="http", **policy)


def results(server: BotServer, shop: Shop) -> dict[str, dict[str, Any]]:
    """By path, as the database has them."""
    found = server.do(f"""
answer = {{
    result.job.url: {{
        "price": format(result.price.normalize(), "f"), "currency": result.currency, "title": result.title,
        "in_stock": result.in_stock, "parsed_data": result.parsed_data, "storage_path": result.storage_path,
    }}
    for result in CrawlResult.objects.filter(job__policy__domain__name={host_of(shop)!r}).select_related("job")
}}
""")
    return {url.removeprefix(shop.url("")): result for url, result in found.items()}


def errors(server: BotServer, shop: Shop) -> dict[str, str]:
    rows = server.do(f"""
jobs = CrawlJob.objects.filter(policy__domain__name={host_of(shop)!r}, status="failed")
answer = {{job.url: job.last_error for job in jobs}}
""")
    return {url.removeprefix(shop.url("")): error for url, error in rows.items()}


def stock_up(shop: Shop) -> None:
    """Pages of many kinds."""
    shop.forbids("User-agent: *", "Disallow: /cart", "", "User-agent: other", "Disallow: /")
    shop.sells("/red-shoes", "1290000", "VND", "OutOfStock")
    shop.answers["/zipped"] = zipped(product("Zipped", "5.00"))
    windows = {"Content-Type": "text/html; charset=windows-1252"}
    shop.answers["/cafe"] = Answer(product("Café crème", "4.50").encode("cp1252"), headers=windows)
    shop.answers["/moved"] = leads_to("/red-shoes", 301)
    shop.answers["/huge"] = Answer(product("Huge", "7.25").encode() + b"<p>more</p>" * 1_100_000)
    shop.answers["/leaflet"] = Answer(b"%PDF-1.7", headers={"Content-Type": "application/pdf"})
    shop.answers["/about"] = Answer(b"<h1>About us</h1>")
    shop.sells("/cart/1", "1.00")
    shop.held.add("/slow")


PRICED = {
    "/red-shoes": ("1290000", "VND", "Red shoes", False),
    "/zipped": ("5", "EUR", "Zipped", True),
    "/cafe": ("4.5", "EUR", "Café crème", True),
    "/moved": ("1290000", "VND", "Red shoes", False),
    "/huge": ("7.25", "EUR", "Huge", True),
}
FAILED = {
    "/leaflet": "not a page: application/pdf",
    "/about": "no price found",
    "/cart/1": "robots.txt forbids it: Disallow: /cart, line 2",
    "/gone": "HTTP 404",
    "/slow": "timeout after 2 s",
}


def test_pages_of_every_kind_end_as_results_or_with_a_reason(server: BotServer, shop: Shop) -> None:
    stock_up(shop)
    order_visits(server, shop, *PRICED, *FAILED, max_retries=1)
    quickly = ("--delay", "0.02", "--timeout", "2")
    ran = server.platform.run("bot", "run", "--once", "--domain", host_of(shop), *quickly, "--json")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["done"], told["failed"], told["released"], told["lost"]) == (len(PRICED), len(FAILED), 0, 0)
    assert f"done    {shop.url('/cafe')}  4.50 EUR" in ran.stderr
    assert f"failed  {shop.url('/gone')}  HTTP 404" in ran.stderr
    stored = results(server, shop)
    names = ("price", "currency", "title", "in_stock")
    assert {path: tuple(one[name] for name in names) for path, one in stored.items()} == PRICED
    assert errors(server, shop) == FAILED
    assert {one["storage_path"] for one in stored.values()} == {None}
    check_documented_structure(stored["/moved"]["parsed_data"], shop.url("/red-shoes"))
    check_politeness(shop)


def check_documented_structure(parsed_data: dict[str, Any], url: str) -> None:
    extraction = {f"extract_price_from_{name}": NOTHING for name in ("og", "microdata", "script_data", "html_ml")}
    found = {"price": 1290000, "currency": "VND", "confidence": 0.95}
    assert parsed_data == {
        "source_url": url,
        "price_formatted": "1,290,000 VND",
        "price_sources": ["jsonld"],
        "confidence": 0.95,
        "price_extraction": {"extract_price_from_jsonld": found} | extraction,
    }


def check_politeness(shop: Shop) -> None:
    """Never two at once, always the delay between them, nothing that robots.txt forbids."""
    assert "/cart/1" not in shop.asked
    assert shop.asked.count("/robots.txt") == 1
    assert len(shop.visits) > len(PRICED) and min(shop.gaps()) >= 0.018, shop.gaps()
    assert {visit.headers["User-Agent"].partition("/")[0] for visit in shop.visits} == {"Crawlspace"}


def test_pages_are_kept_when_they_are_wanted(server: BotServer, shop: Shop) -> None:
    shop.sells("/kept", "5.00")
    order_visits(server, shop, "/kept")
    ran = server.platform.run("bot", "run", "--once", "--raw-html", "--quiet", "--domain", host_of(shop))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert results(server, shop)["/kept"]["storage_path"]


def test_when_no_page_has_a_price_the_exit_code_says_so(server: BotServer, shop: Shop) -> None:
    order_visits(server, shop, "/a", "/b", max_retries=1)
    ran = server.platform.run("bot", "run", "--once", "--delay", "0", "--domain", host_of(shop))
    assert (ran.returncode, ran.stdout.split(" in ")[0]) == (1, "0 done, 2 failed, 0 released, 0 lost")
    assert errors(server, shop) == {"/a": "HTTP 404", "/b": "HTTP 404"}


def test_sigterm_finishes_what_was_begun_and_gives_the_rest_back(server: BotServer, shop: Shop) -> None:
    shop.sells("/slow", "5.00")
    shop.held.add("/slow")
    order_visits(server, shop, "/slow")
    worker = server.platform.start("bot", "run", "--delay", "0", "--workers", "4", "--domain", host_of(shop))
    shop.wait_until_asked("/slow")
    order_visits(server, shop, *(f"/{number}" for number in range(20)))
    worker.process.send_signal(signal.SIGTERM)
    worker.wait_for("stopping")
    shop.let_go()
    assert worker.process.wait(60) == 0
    assert server.states(host_of(shop)) == {"done": 1, "pending": 20}
    assert server.do("answer = CrawlJob.objects.filter(status='pending').exclude(retry_count=0).count()") == 0
    assert shop.pages_asked() == ["/slow"]


def test_work_that_turns_up_later_is_done(server: BotServer, shop: Shop) -> None:
    worker = server.platform.start("bot", "run", "--delay", "0", "--domain", host_of(shop))
    worker.wait_for("working for")
    shop.sells("/late", "5.00")
    order_visits(server, shop, "/late")
    worker.wait_for(f"done    {shop.url('/late')}  5.00 EUR")
    assert worker.stop(signal.SIGINT) == 0
    assert server.states(host_of(shop)) == {"done": 1}


def test_a_bot_that_the_server_does_not_accept_is_told_why(server: BotServer) -> None:
    run = server.platform.run
    wrong = run("bot", "run", "--token", "bot_bot-001_wrong")
    assert wrong.returncode == 1 and "a new token: crawler bot rotate bot-001" in wrong.stderr
    token = run("bot", "create", "sleeper").stdout.split()[-1]
    assert run("bot", "disable", "sleeper").stdout == "sleeper is disabled\n"
    disabled = run("bot", "run", "--bot-id", "sleeper", "--token", token)
    assert disabled.returncode == 1 and "does not accept this bot" in disabled.stderr


def test_a_server_that_is_not_there_is_said_so(server: BotServer) -> None:
    away = server.platform.run("bot", "run", "--once", "--url", f"http://127.0.0.1:{free_port()}")
    assert (away.returncode, "no answer from" in away.stderr, "crawler up" in away.stderr) == (1, True, True)
    nonsense = server.platform.run("bot", "run", "--url", "gopher://x")
    assert (nonsense.returncode, "is not the address of a server" in nonsense.stderr) == (2, True)


def test_a_bot_without_a_token_is_told_where_to_get_one(server: BotServer) -> None:
    ran = server.platform.run("bot", "run", "--bot-id", "stranger")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("crawler: no token: set BOT_API_TOKEN") and "for stranger" in ran.stderr
