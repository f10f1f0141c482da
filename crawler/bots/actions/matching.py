"""Which of a domain's policies a URL belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crawler.bots.models import CrawlPolicy
from crawler.engine.scope import Patterns

Rule = tuple[int, str, int]  # id, pattern, priority


class Matcher:
    """Of those that match, the one with the highest priority, then the oldest."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = sorted(rules, key=lambda rule: (-rule[2], rule[0]))
        # Behind a policy without a pattern nobody gets a turn.
        catch_all = next((at for at, rule in enumerate(self.rules) if not rule[1]), len(self.rules))
        self.default = self.rules[catch_all][0] if catch_all < len(self.rules) else None
        self.patterns = Patterns(rule[1] for rule in self.rules[:catch_all])
        self.policy_by_pattern: dict[str, int] = {}
        for policy_id, pattern, _ in self.rules[:catch_all]:
            self.policy_by_pattern.setdefault(pattern, policy_id)

    def policy_of(self, url: str) -> int | None:
        found = self.patterns.first_in(url)
        return self.default if found is None else self.policy_by_pattern[found]


def rules_by_domain(domain_ids: Iterable[Any]) -> dict[Any, list[Rule]]:
    rules: dict[Any, list[Rule]] = {}
    rows = CrawlPolicy.objects.filter(domain__in=list(domain_ids)).order_by("id")
    for domain_id, *rule in rows.values_list("domain_id", "id", "url_pattern", "priority"):
        rules.setdefault(domain_id, []).append(tuple(rule))  # type: ignore[arg-type]
    return rules


def matchers(rules: Mapping[Any, list[Rule]]) -> dict[Any, Matcher]:
    return {domain_id: Matcher(of_domain) for domain_id, of_domain in rules.items()}
