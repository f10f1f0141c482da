from __future__ import annotations

from crawler.bots.models import ChangeKind, ProductChange, Webhook

PRICE_KINDS = frozenset({ChangeKind.PRICE_UP, ChangeKind.PRICE_DOWN})


def wants(webhook: Webhook, change: ProductChange, policy_id: int | None) -> bool:
    """True when the webhook is to be told. A price has to go further than `min_percent`; just as far is not enough."""
    if webhook.events and change.kind not in webhook.events:
        return False
    if webhook.domain_id is not None and webhook.domain_id != change.domain_id:
        return False
    if webhook.policy_id is not None and webhook.policy_id != policy_id:
        return False
    if change.kind not in PRICE_KINDS:
        return True
    return change.percent_at_most is not None and change.percent_at_most > webhook.min_percent
