"""People at the admin pages, and something for them to look at."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from crawler.accounts.models import User
from crawler.bots import actions
from crawler.bots.models import CrawlJob, CrawlPolicy, ProductURL
from crawler.domains.models import Domain

SHOP = "shop.example.com"


def browser_of(role: str = "admin") -> Client:
    user, _ = User.objects.get_or_create(username=f"the-{role}", defaults={"role": role})
    client = Client()
    client.force_login(user)
    return client


def place(model: str, what: str = "changelist", *args: Any) -> str:
    return reverse(f"admin:bots_{model}_{what}", args=args)


def make_policy(name: str = "Default", domain: str = SHOP, **fields: Any) -> CrawlPolicy:
    row, _ = Domain.objects.get_or_create(name=domain)
    return CrawlPolicy.objects.create(domain=row, name=name, **fields)


def make_products(count: int, domain: str = SHOP) -> list[ProductURL]:
    urls = [f"https://{domain}/product/{number}" for number in range(count)]
    actions.add_product_urls(urls)
    return [ProductURL.objects.get(url=url) for url in urls]


def make_jobs(count: int, domain: str = SHOP) -> list[CrawlJob]:
    """Of as many products, in order."""
    products = make_products(count, domain)
    actions.schedule_due()
    return [CrawlJob.objects.get(product_url_hash=product.pk) for product in products]


def text_of(answer: Any) -> str:
    assert answer.status_code == 200, (answer.status_code, answer.headers)
    return str(answer.content.decode())
