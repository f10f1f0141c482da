"""A bot as the tests see it, and something for it to do."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.test import Client

from crawler.bots import actions, tokens
from crawler.bots.models import BotConfig, CrawlPolicy
from crawler.domains.models import Domain
from crawler.project.bots_first import BotsFirst


class Answer(HttpResponse):
    def json(self) -> Any:
        return json.loads(self.content)


class BotClient(Client):
    """Asks as the server is asked: bots' requests are answered before Django, others by it."""

    def __init__(self) -> None:
        super().__init__(raise_request_exception=False)

    def request(self, **request: Any) -> Any:
        told: list[Any] = []
        environ = self._base_environ(**request)  # type: ignore[attr-defined]
        parts = BotsFirst(lambda *_: [])(environ, lambda *answer: told.append(answer))
        if not told:
            return super().request(**request)
        status, headers = told[0]
        return Answer(b"".join(parts), status=int(status[:3]), headers=dict(headers))


class Bot:
    """Sends its credentials with every request, as the document shows."""

    def __init__(self, bot_id: str = "bot-001", **options: Any) -> None:
        # Not by the action: its audit line cannot be removed, which tests without a transaction have to.
        self.token, digest = tokens.generate(bot_id)
        self.config = BotConfig.objects.create(bot_id=bot_id, token_hash=digest, **options)
        self.bot_id = bot_id
        self.client: Client = BotClient()

    def post(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
        shown = {"bot_id": self.bot_id, "api_token": self.token}
        return self.send(path, shown | (body or {}), **headers)

    def send(self, path: str, body: object, **headers: str) -> Any:
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        return self.client.generic(
            "POST", f"/api/crawl/{path}/", text, content_type="application/json", headers=headers
        )

    def pull(self, max_jobs: int = 10, **more: Any) -> list[dict[str, Any]]:
        answer = self.post("pull", {"max_jobs": max_jobs, **more})
        assert answer.status_code == 200, answer.content
        jobs: list[dict[str, Any]] = answer.json()["data"]["jobs"]
        return jobs

    def submit(self, job_id: str, **more: Any) -> Any:
        found = {"success": True, "price": 99.99, "currency": "USD"} if more.get("success", True) else {}
        return self.post("submit", {"job_id": job_id, **found, **more})

    def fail(self, job_id: str, error_msg: str = "timeout") -> Any:
        return self.post("submit", {"job_id": job_id, "success": False, "error_msg": error_msg})


def policy_for(domain: str = "example.com", name: str = "Default Policy", **fields: Any) -> CrawlPolicy:
    row, _ = Domain.objects.get_or_create(name=domain)
    return CrawlPolicy.objects.create(domain=row, name=name, **fields)


def make_jobs(count: int = 1, domain: str = "example.com", **fields: Any) -> CrawlPolicy:
    """`count` products of a domain, each with a pending job, in order."""
    policy = policy_for(domain, **fields)
    for number in range(count):
        actions.add_product_urls([f"https://{domain}/product/{number}"])
        actions.schedule_due()
    return policy
