"""The example bots as their readers run them: against a server, and a shop whose pages they fetch."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from tests.faults.bot_server import ROOT, BotServer
from tests.faults.small_site import SmallSite

pytestmark = [pytest.mark.postgresql, pytest.mark.xdist_group("bot-examples")]
PATIENCE_SECONDS = 60
EXAMPLES = ["requests_bot.py", "asyncio_bot.py", "scrapy_bot.py"]
PAGE = """<title>Tea {number}</title><script type="application/ld+json">
{{"@type": "Product", "name": "Tea {number}", "offers": {{"@type": "Offer", "price": "{number}.95",
"priceCurrency": "EUR", "availability": "https://schema.org/InStock"}}}}</script>"""
HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BotServer]:
    made = BotServer(tmp_path_factory.mktemp("examples"))
    yield made
    made.close()


@pytest.fixture
def shop() -> Iterator[SmallSite]:
    site = SmallSite(pages=60)
    for number in range(30):
        site.answers[f"/tea{number}"] = (200, HTML, PAGE.format(number=number).encode())
    site.answers["/empty"] = (200, HTML, b"<title>nothing</title>")
    yield site
    site.close()


def test_every_example_is_tested() -> None:
    assert sorted(path.name for path in (ROOT / "examples").glob("*.py")) == sorted(EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_does_the_work(server: BotServer, shop: SmallSite, example: str) -> None:
    server.clear()
    host = shop.url.split("/")[2]
    paths = [f"tea{number}" for number in range(30)] + ["empty", "gone"]
    server.add_jobs(host, paths, scheme="http", max_retries=1)
    done = subprocess.run(
        [sys.executable, str(Path("examples") / example), "--once"],
        cwd=ROOT, env=server.environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert server.states(host) == {"done": 30, "failed": 2}, done.stderr
    rows = server.do(f"""
rows = CrawlResult.objects.filter(job__policy__domain__name={host!r})
answer = [[row.title, str(row.price), row.currency, row.in_stock, row.parsed_data["price_sources"]] for row in rows]
""")
    found = {title: (Decimal(price), *rest) for title, price, *rest in rows}
    assert found == {f"Tea {n}": (Decimal(f"{n}.95"), "EUR", True, ["jsonld"]) for n in range(30)}


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_gives_back_what_it_cannot_finish(server: BotServer, shop: SmallSite, example: str) -> None:
    server.clear()
    host = shop.url.split("/")[2]
    shop.seconds_per_page = 0.5
    server.add_jobs(host, [str(number) for number in range(1, 61)], scheme="http", max_retries=9)
    command = [sys.executable, str(Path("examples") / example)]
    with subprocess.Popen(command, cwd=ROOT, env=server.environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            shop.wait_until_asked(1)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
    assert process.returncode == 0, said
    assert set(server.states(host)) <= {"pending", "done"}, said
