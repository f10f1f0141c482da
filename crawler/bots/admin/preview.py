"""What a policy would cover, before it is saved. Looks at a bounded number of URLs."""

from __future__ import annotations

from typing import Any

from crawler.bots.actions.matching import Matcher, Rule, rules_by_domain
from crawler.bots.models import ProductURL
from crawler.bots.models.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY
from crawler.domains.models import Domain
from crawler.engine.scope import InvalidPattern, Patterns
from crawler.web.hosts import canonical_domain
from crawler.web.urls import InvalidURL

MOST_URLS = 10_000
EXAMPLES = 10
NEW_POLICY = 2**62  # newer than any: of equal priority the oldest policy wins

Preview = dict[str, Any]


def preview(domain: str, pattern: str, priority: str, policy_id: str | None) -> Preview:
    """`message` for a person, `examples`, and the numbers; or `error`, when the pattern is not one."""
    try:
        searched = Patterns([pattern])
    except InvalidPattern as error:
        return {"error": f"Not a regular expression: {error.reason}", "examples": []}
    name = _name(domain.replace("\0", ""))
    domain_id = Domain.objects.filter(name=name).values_list("pk", flat=True).first()
    if domain_id is None:
        return {"message": f"No URLs of {name} are known yet." if name else "Enter a domain.", "examples": []}
    own = int(policy_id) if policy_id and policy_id.isdecimal() else NEW_POLICY
    rules = [rule for rule in rules_by_domain([domain_id]).get(domain_id, []) if rule[0] != own]
    return _looked_at(domain_id, name, searched, own, [*rules, (own, pattern, _priority(priority))])


def _name(domain: str) -> str:
    try:
        return canonical_domain(domain.strip()) if domain.strip() else ""
    except InvalidURL:
        return domain.strip()


def _priority(text: str) -> int:
    return min(max(int(text), LOWEST_PRIORITY), HIGHEST_PRIORITY) if text.isdecimal() and len(text) < 4 else 5


def _looked_at(domain_id: Any, name: str, searched: Patterns, own: int, rules: list[Rule]) -> Preview:
    """In the order of their hashes, which is none: the first are a fair sample of all."""
    urls = ProductURL.objects.filter(domain=domain_id).order_by("url_hash").values_list("url", flat=True)
    looked = list(urls[: MOST_URLS + 1])
    is_all, looked = len(looked) <= MOST_URLS, looked[:MOST_URLS]
    matching = [url for url in looked if searched.first_in(url) is not None]
    matcher = Matcher(rules)
    belonging = sum(matcher.policy_of(url) == own for url in matching)
    return {
        "message": _message(name, len(looked), len(matching), belonging, is_all),
        "matching": len(matching),
        "belonging": belonging,
        "looked_at": len(looked),
        "is_all": is_all,
        "examples": matching[:EXAMPLES],
    }


def _message(name: str, looked: int, matching: int, belonging: int, is_all: bool) -> str:
    if not looked:
        return f"No URLs of {name} are known yet."
    if is_all:
        found = f"Matches {matching:,} of {looked:,} URLs of {name}"
    else:
        found = f"Matches at least {matching:,} URLs of {name}: that many of the {looked:,} looked at"
    if matching == belonging:
        return f"{found}. All of them would belong to this policy." if matching else f"{found}."
    return f"{found}. {belonging:,} of them would belong to this policy; the others have one of higher priority."
