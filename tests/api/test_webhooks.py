"""`/api/v1/webhooks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from crawler.bots import actions
from crawler.bots.models import Webhook
from crawler.bots.webhooks.courier import deliver_due
from tests.api.bots import policy_for
from tests.api.conftest import Api
from tests.unit.bots.receiver import Receiver, allow_loopback, receiving
from tests.unit.bots.test_changes import Shop

pytestmark = pytest.mark.django_db
PATH = "/api/v1/webhooks"


@pytest.fixture
def operator(api_of: Callable[[str], Api]) -> Api:
    return api_of("operator")


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    allow_loopback(settings)
    with receiving() as made:
        yield made


def create(api: Api, **body: Any) -> Any:
    return api.send("POST", PATH, {"url": "https://receiver.example/hook"} | body)


def test_from_creation_to_removal(operator: Api) -> None:
    policy = policy_for("example.com")
    answer = create(
        operator, events=["price_down", "price_down"], min_percent=2.5, domain="www.Example.com", policy=policy.pk
    )
    assert answer.status_code == 201, answer.content
    made = answer.json()
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert (made["events"], made["min_percent"], made["domain"], made["policy"]) == (
        ["price_down"], 2.5, "example.com", policy.pk,
    )  # fmt: skip
    path = f"{PATH}/{made['id']}"
    assert operator.get(path).json() == made
    assert operator.get(PATH).json() == {"webhooks": [made]}
    changed = operator.send("PATCH", path, {"domain": None, "policy": None, "min_percent": "0.1", "enabled": False})
    assert changed.status_code == 200, changed.content
    assert (changed.json()["domain"], changed.json()["policy"], changed.json()["min_percent"]) == (None, None, 0.1)
    assert not changed.json()["enabled"]
    rotated = operator.send("POST", f"{path}/rotate-secret").json()["secret"]
    assert rotated not in (secret, "")
    assert operator.send("DELETE", path).status_code == 204
    assert operator.get(path).status_code == 404


def test_a_secret_of_ones_own(operator: Api) -> None:
    assert create(operator, secret="correct horse battery").json()["secret"] == "correct horse battery"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "nonsense"}, "url"),
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "https://a:b@x.example/"}, "url"),
        ({"url": None}, "url"),
        ({"events": ["cheaper"]}, "events.0"),
        ({"min_percent": -1}, "min_percent"),
        ({"min_percent": "much"}, "min_percent"),
        ({"domain": "unknown.example"}, "domain"),
        ({"policy": 99}, "policy"),
        ({"secret": "short"}, "secret"),
        ({"event": ["price_up"]}, "event"),
    ],
)
def test_wrong_webhooks_name_the_field(operator: Api, body: dict[str, Any], field: str) -> None:
    answer = create(operator, **body)
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field), answer.content
    assert not Webhook.objects.exists()


def test_wrong_changes_name_the_field(operator: Api) -> None:
    path = f"{PATH}/{create(operator).json()['id']}"
    for body, field in (({"url": None}, "url"), ({"enabled": None}, "enabled"), ({"url": "x"}, "url")):
        answer = operator.send("PATCH", path, body)
        assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field)


def test_a_ping_tells_what_came_back(operator: Api, receiver: Receiver) -> None:
    path = f"{PATH}/{create(operator, url=receiver.url).json()['id']}"
    ping = operator.send("POST", f"{path}/test").json()
    assert (ping["status"], ping["event"], ping["response_status"], ping["change"]) == ("delivered", "ping", 200, None)
    assert receiver.messages[0]["id"] == ping["id"]
    receiver.status, receiver.answer = 404, b"no such hook"
    failed = operator.send("POST", f"{path}/test").json()
    assert (failed["status"], failed["response_excerpt"], failed["next_attempt_at"]) == ("failed", "no such hook", None)
    assert Webhook.objects.get().failing_since is None
    assert [one["id"] for one in operator.get(f"{path}/deliveries").json()["deliveries"]] == [failed["id"], ping["id"]]


def test_from_a_submit_to_a_message(operator: Api, receiver: Receiver) -> None:
    hook = create(operator, url=receiver.url, events=["price_down"], min_percent=5).json()
    shop = Shop()
    for price in ("10", "9.5", "9", "12"):
        shop.says(price)
    actions.publish_changes()
    deliver_due()
    (message,) = receiver.messages
    assert (message["event"], message["change"]["price"], message["change"]["percent"]) == ("price_down", 9, -5.263158)
    listed = operator.get(f"{PATH}/{hook['id']}/deliveries?status=delivered").json()
    assert [one["change"] for one in listed["deliveries"]] == [message["change"]["number"]]
    again = operator.send("POST", f"{PATH}/{hook['id']}/deliveries/{message['id']}/redeliver")
    assert (again.status_code, again.json()["status"]) == (202, "pending")
    deliver_due()
    assert [one["id"] for one in receiver.messages] == [message["id"]] * 2


def test_deliveries_page_by_page(operator: Api, receiver: Receiver) -> None:
    path = f"{PATH}/{create(operator, url=receiver.url).json()['id']}"
    ids = [operator.send("POST", f"{path}/test").json()["id"] for _ in range(3)]
    first = operator.get(f"{path}/deliveries?limit=2").json()
    rest = operator.get(f"{path}/deliveries?limit=2&cursor={first['pagination']['next_cursor']}").json()
    assert [one["id"] for one in first["deliveries"] + rest["deliveries"]] == ids[::-1]
    assert rest["pagination"]["next_cursor"] is None


def test_what_is_not_there(operator: Api) -> None:
    nowhere = "00000000-0000-0000-0000-000000000000"
    path = f"{PATH}/{create(operator).json()['id']}"
    assert operator.get(f"{PATH}/{nowhere}/deliveries").status_code == 404
    assert operator.send("POST", f"{path}/deliveries/{nowhere}/redeliver").status_code == 404
    assert operator.get(f"{PATH}/x").status_code == 400


def test_who_may_what(api_of: Callable[[str], Api], nobody: Client) -> None:
    viewer = api_of("viewer")
    assert viewer.get(PATH).status_code == 200
    assert create(viewer).status_code == 403
    assert nobody.get(PATH).status_code == 401
