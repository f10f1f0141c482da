"""Every kind of page in real Chromium: it works, loads nothing from elsewhere, and breaks none of its own policy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import installed
from tests.browser.visits import ADMIN, Visit, visiting
from tests.faults.platform import Platform

installed.require()
pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    made = Platform(tmp_path_factory.mktemp("csp"))
    made.up()
    yield made
    made.close()


@pytest.fixture
def visit(platform: Platform, chromium: Any) -> Iterator[Visit]:
    with visiting(platform, chromium) as made:
        yield made


@pytest.fixture
def boss(visit: Visit, platform: Platform) -> Visit:
    shown = platform.credentials
    visit.log_in("/login/", shown["admin_user"], shown["admin_password"])
    assert visit.page.url.endswith("/dashboard/")
    return visit


@pytest.mark.parametrize(
    ("path", "status"),
    [("/login/", 200), (f"{ADMIN}login/", 200), ("/api/v1/docs", 200), ("/api/crawl/docs", 200), ("/nothing", 404)],
)
def test_pages_for_strangers(visit: Visit, path: str, status: int) -> None:
    assert visit.open(path) == status
    assert visit.is_content()


def test_the_description_can_be_tried_out(visit: Visit) -> None:
    visit.open("/api/crawl/docs")
    page = visit.page
    page.locator(".opblock-summary-control").first.click()
    page.locator(".try-out__btn").first.click()
    page.locator(".execute").first.click()
    page.wait_for_selector(".live-responses-table")
    assert "authentication_error" in page.inner_text(".live-responses-table")
    assert visit.is_content()


def test_the_dashboard_and_every_list_and_form_of_the_admin(boss: Visit) -> None:
    assert boss.open("/dashboard/") == 200
    assert boss.open(ADMIN) == 200
    lists = [link for link in boss.links(ADMIN) if link.count("/") == 5]
    assert f"{ADMIN}accounts/user/" in lists
    for path in lists:
        assert boss.open(path) == 200, path
        rows = [link for link in boss.links(path) if link.endswith("/change/") or "/change/?" in link][:1]
        forms = [link for link in boss.links(path) if link.endswith("/add/")]
        for form in rows + forms:
            assert boss.open(form) == 200, form
            assert boss.is_content()
        assert boss.is_content()


def test_the_admin_pages_react(boss: Visit) -> None:
    """Alpine's expressions are evaluated: a menu that was hidden is shown."""
    boss.open(f"{ADMIN}accounts/user/")
    menu = boss.page.locator("text=Log out").first
    assert not menu.is_visible()
    boss.page.locator("text=unfold_more").first.click()
    menu.wait_for(state="visible")
    assert boss.is_content()


def test_a_script_in_a_page_does_not_run(boss: Visit) -> None:
    """What the policy is for: whatever gets into a page, inline code stays dead."""
    boss.open("/dashboard/")
    boss.page.evaluate("""() => {
        const script = document.createElement('script');
        script.textContent = 'window.wasHere = true';
        document.body.append(script);
        document.body.insertAdjacentHTML('beforeend', '<img src="/nothing" onerror="window.wasHere = true">');
    }""")
    boss.page.wait_for_load_state("networkidle")
    assert boss.page.evaluate("window.wasHere") is None
    assert any("Content Security Policy" in said for said in boss.complaints)


def test_pages_cannot_be_framed(visit: Visit) -> None:
    visit.open("/login/")
    visit.page.evaluate("document.body.innerHTML = '<iframe src=\"/login/\"></iframe>'")
    visit.page.wait_for_load_state("networkidle")
    assert all("Log in" not in frame.content() for frame in visit.page.frames[1:])


@pytest.mark.parametrize("form", ["/login/", f"{ADMIN}login/"])
def test_a_person_who_has_to_wait_is_told_how_long(visit: Visit, form: str) -> None:
    statuses: list[int] = []
    visit.page.on("response", lambda got: statuses.append(got.status) if got.request.method == "POST" else None)
    for _ in range(11):
        visit.log_in(form, f"nobody at {form}", "wrong")
    assert statuses == [200] * 10 + [429]
    assert "Too many failed logins. Try again in 15 minutes." in visit.page.inner_text("body")
    assert visit.is_content()


def test_cookies_as_the_browser_sees_them(boss: Visit, tmp_path: Path) -> None:
    cookies = {cookie["name"]: cookie for cookie in boss.page.context.cookies()}
    assert set(cookies) == {"crawlspace_session", "crawlspace_csrf", "crawlspace_device"}
    assert all(cookie["httpOnly"] and cookie["sameSite"] == "Lax" for cookie in cookies.values())
    assert boss.page.evaluate("document.cookie") == ""
    assert "crawlspace" not in json.dumps(boss.page.evaluate("Object.entries(localStorage)"))
