"""The pages of policies, and what their preview says."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from crawler.accounts.models import AuditEntry
from crawler.bots import actions
from crawler.bots.admin import preview
from crawler.bots.models import CrawlPolicy, ProductURL
from crawler.domains.models import Domain
from tests.unit.bots.admin_browser import SHOP, browser_of, make_policy, make_products, place, text_of

pytestmark = pytest.mark.django_db
FORM = {
    "name": "Offers", "url_pattern": "/offers/", "priority": "15", "enabled": "on", "frequency_hours": "1",
    "max_retries": "3", "retry_backoff_minutes": "5", "timeout_seconds": "600", "respect_host_limits": "on",
}  # fmt: skip


@pytest.fixture
def browser() -> Client:
    return browser_of("operator")


def ask(browser: Client, **asked: Any) -> dict[str, Any]:
    found: dict[str, Any] = browser.get(place("crawlpolicy", "preview"), asked).json()
    return found


def test_a_policy_of_a_new_domain(browser: Client) -> None:
    answer = browser.post(place("crawlpolicy", "add"), FORM | {"of_domain": "https://www.Example.org/x"})
    assert answer.status_code == 302
    policy = CrawlPolicy.objects.get()
    assert (policy.domain.name, policy.url_pattern, policy.priority) == ("example.org", "/offers/", 15)
    assert policy.respect_host_limits
    assert not policy.requeue_expired
    assert AuditEntry.objects.get(action="created").actor == "the-operator"


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"url_pattern": "(open"}, "Not a regular expression"),
        ({"url_pattern": r"(a)\1"}, "Not a regular expression"),
        ({"priority": "21"}, "less than or equal to 20"),
        ({"of_domain": "http://"}, "Not a domain"),
        ({"name": "Default"}, "has a policy of this name already"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(browser: Client, wrong: dict[str, str], complaint: str) -> None:
    make_policy("Default")
    page = text_of(browser.post(place("crawlpolicy", "add"), FORM | {"of_domain": SHOP} | wrong))
    assert complaint in page
    assert CrawlPolicy.objects.count() == 1


def test_a_policy_is_changed_with_a_trace(browser: Client) -> None:
    policy = make_policy("Offers", url_pattern="/offers/", frequency_hours=1, priority=15)
    browser.post(place("crawlpolicy", "change", policy.pk), FORM | {"timeout_seconds": "900"})
    policy.refresh_from_db()
    assert policy.timeout_seconds == 900
    entry = AuditEntry.objects.get(action="changed")
    assert (entry.before, entry.after) == ({"timeout_seconds": 600}, {"timeout_seconds": 900})


def test_admins_delete_policies_and_the_urls_stay() -> None:
    policy = make_policy()
    make_products(2)
    assert browser_of("operator").post(place("crawlpolicy", "delete", policy.pk), {"post": "yes"}).status_code == 403
    admin = browser_of("admin")
    assert "its URLs go to" in text_of(admin.get(place("crawlpolicy", "delete", policy.pk)))
    admin.post(place("crawlpolicy", "delete", policy.pk), {"post": "yes"})
    assert not CrawlPolicy.objects.exists()
    assert ProductURL.objects.filter(policy=None).count() == 2
    assert AuditEntry.objects.filter(action="deleted").exists()


def test_viewers_only_look() -> None:
    policy, viewer = make_policy(), browser_of("viewer")
    assert viewer.get(place("crawlpolicy", "add")).status_code == 403
    assert viewer.post(place("crawlpolicy", "change", policy.pk), FORM).status_code == 403
    assert text_of(viewer.get(place("crawlpolicy", "change", policy.pk)))


def test_next_run_at_is_shown_in_few_queries(browser: Client, django_assert_max_num_queries: Any) -> None:
    for number in range(20):
        make_policy(domain=f"shop{number}.example.com")
        actions.add_product_urls([f"https://shop{number}.example.com/1"])
    ProductURL.objects.update(next_due_at="2031-05-06 07:08:09+00:00")
    with django_assert_max_num_queries(7):
        page = text_of(browser.get(place("crawlpolicy")))
    assert page.count("2031-05-06 07:08:09") == 20
    assert "2031-05-06 07:08:09" in text_of(
        browser.get(place("crawlpolicy", "change", CrawlPolicy.objects.earliest("id").pk))
    )


def test_the_preview_counts_matches_and_what_would_belong(browser: Client) -> None:
    make_policy("better", url_pattern="product/1$", priority=20)
    make_products(12)
    found = ask(browser, domain=SHOP, pattern="product/1", priority="5")
    assert (found["matching"], found["belonging"], found["looked_at"], found["is_all"]) == (3, 2, 12, True)
    assert found["message"].startswith(f"Matches 3 of 12 URLs of {SHOP}. 2 of them would belong")
    assert sorted(found["examples"]) == [f"https://{SHOP}/product/{number}" for number in (1, 10, 11)]
    assert ask(browser, domain=f"https://www.{SHOP}/", pattern="")["matching"] == 12


def test_the_preview_of_a_policy_that_exists(browser: Client) -> None:
    older, younger = make_policy("older"), make_policy("younger")
    make_products(2)
    assert ask(browser, domain=SHOP, pattern="", priority="5", policy=older.pk)["belonging"] == 2
    assert ask(browser, domain=SHOP, pattern="", priority="5", policy=younger.pk)["belonging"] == 0
    assert ask(browser, domain=SHOP, pattern="", priority="6", policy=younger.pk)["belonging"] == 2


def test_the_preview_is_bounded(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_products(6)
    monkeypatch.setattr(preview, "MOST_URLS", 4)
    found = ask(browser, domain=SHOP, pattern="product")
    assert (found["matching"], found["is_all"]) == (4, False)
    assert found["message"].startswith(f"Matches at least 4 URLs of {SHOP}: that many of the 4 looked at")


def test_the_preview_explains_itself(browser: Client) -> None:
    Domain.objects.create(name="empty.example.com")
    assert ask(browser, domain=SHOP, pattern="(")["error"].startswith("Not a regular expression")
    assert ask(browser, domain="", pattern="")["message"] == "Enter a domain."
    for domain in ("unknown.example.com", "empty.example.com"):
        assert ask(browser, domain=domain, pattern="")["message"] == f"No URLs of {domain} are known yet."


def test_the_preview_wants_a_login() -> None:
    assert Client().get(place("crawlpolicy", "preview")).status_code == 302
