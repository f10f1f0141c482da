"""The pages of bots as an admin uses them, in real Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import installed
from tests.browser.visits import ADMIN, Visit, visiting
from tests.faults.platform import Platform

installed.require()
pytestmark = pytest.mark.xdist_group("browser")
BOTS = f"{ADMIN}bots/"
URLS = [f"https://shop.example.com/{path}" for path in ("offers/1", "offers/2", "product/1")]
PAGE = "<p id=here>A page</p><script>document.body.textContent = 'scripts run'</script>"
# Pixels that the chart drew.
INK = (
    """canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(part => part > 0)"""
)


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    made = Platform(tmp_path_factory.mktemp("admin"))
    made.up()
    yield made
    made.close()


@pytest.fixture
def boss(platform: Platform, chromium: Any) -> Iterator[Visit]:
    with visiting(platform, chromium) as visit:
        shown = platform.credentials
        visit.log_in("/login/", shown["admin_user"], shown["admin_password"])
        yield visit
        assert visit.is_content()


def go(boss: Visit, path: str) -> None:
    answer = boss.page.goto(f"{boss.base}{BOTS}{path}")
    assert answer.status == 200


def save(boss: Visit) -> None:
    with boss.page.expect_navigation():
        boss.page.click("button[name=_save]")


def test_from_urls_to_a_price_chart(boss: Visit, platform: Platform) -> None:
    import_urls(boss)
    preview_a_policy(boss)
    token = create_bot(boss)
    jobs = pull(platform, token)
    done = {"success": True, "price": "19.90", "currency": "EUR", "raw_html": PAGE}
    assert bot_says(platform, token, "submit", job_id=jobs[0]["job_id"], **done)["success"]
    see_the_chart(boss, jobs[0]["url"])
    see_the_page_without_rights(boss)
    reset_a_job(boss, jobs[1]["job_id"])


def import_urls(boss: Visit) -> None:
    go(boss, "producturl/")
    boss.page.click("text=Import URLs")
    boss.page.fill("textarea[name=urls]", "\n".join([*URLS, "nonsense"]))
    boss.page.fill("input[name=frequency_hours]", "24")
    boss.page.click("#import-form button:has-text('Import')")
    outcome = boss.page.inner_text("#import-outcome")
    assert outcome == "3 added, 0 known already, 0 repeated, 1 refused. 1 policies made."


def preview_a_policy(boss: Visit) -> None:
    go(boss, "crawlpolicy/add/")
    page, message = boss.page, boss.page.locator(".bots-preview-message")
    page.fill("#id_of_domain", "shop.example.com")
    page.locator("text=Matches 3 of 3 URLs").wait_for()
    page.locator("#id_url_pattern").press_sequentially("/offers/")
    page.locator("text=Matches 2 of 3 URLs").wait_for()
    assert "0 of them would belong to this policy" in message.inner_text()
    page.fill("#id_priority", "9")
    page.locator("text=All of them would belong to this policy").wait_for()
    assert page.locator(".bots-preview-examples li").count() == 2
    page.fill("#id_url_pattern", "(")
    page.locator("text=Not a regular expression").wait_for()
    page.fill("#id_url_pattern", "/offers/")
    page.fill("#id_name", "Offers")
    save(boss)
    assert "Offers" in page.inner_text("#result_list")


def create_bot(boss: Visit) -> str:
    go(boss, "botconfig/add/")
    boss.page.fill("#id_bot_id", "price-bot")
    save(boss)
    token: str = boss.page.inner_text("#token")
    assert re.fullmatch(r"bot_price-bot_[A-Za-z0-9_-]+", token)
    with boss.page.expect_navigation():
        boss.page.click("text=Back to price-bot")
    assert token not in boss.page.content()
    return token


def pull(platform: Platform, token: str) -> list[dict[str, Any]]:
    """Two jobs; the scheduler makes them within seconds."""
    jobs: list[dict[str, Any]] = []
    while len(jobs) < 2:
        more = bot_says(platform, token, "pull", max_jobs=2 - len(jobs), wait_seconds=20)["data"]["jobs"]
        assert more
        jobs += more
    return jobs


def bot_says(platform: Platform, token: str, path: str, **body: Any) -> Any:
    return platform.ask(f"/api/crawl/{path}/", "POST", {"bot_id": "price-bot", "api_token": token} | body).json()


def see_the_chart(boss: Visit, url: str) -> None:
    go(boss, f"producturl/?q={url}")
    with boss.page.expect_navigation():
        boss.page.click("#result_list tbody th a, #result_list tbody td a")
    canvas = boss.page.locator("#price-chart canvas")
    canvas.wait_for()
    assert canvas.evaluate(INK)
    assert "19.90 EUR" in boss.page.inner_text("main, body")


def see_the_page_without_rights(boss: Visit) -> None:
    boss.page.click("text=show")
    frame = boss.page.frame_locator("iframe.bots-frame")
    assert frame.locator("#here").inner_text() == "A page"
    assert all("Blocked script execution" in said for said in boss.complaints)
    boss.complaints.clear()


def reset_a_job(boss: Visit, job_id: str) -> None:
    go(boss, f"crawljob/{job_id}/change/")
    with boss.page.expect_navigation():
        boss.page.click("text=Reset to pending")
    boss.page.click("button:has-text('Reset to pending')")
    boss.page.locator("text=The job is pending now.").wait_for()
