"""Product URLs come in, many at a time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction

from crawler.accounts import audit
from crawler.accounts.actors import Actor
from crawler.bots.actions.matching import Rule, matchers, rules_by_domain
from crawler.bots.actions.policies import create_policy
from crawler.bots.actions.product_rows import NewURL, insert_new
from crawler.bots.identity import Identity, identify
from crawler.bots.models import CrawlJob, CrawlPolicy, ProductURL
from crawler.bots.states import OPEN
from crawler.domains.models import Domain
from crawler.domains.progress import remember
from crawler.web.urls import InvalidURL

BATCH = 10_000
REFUSALS_KEPT = 100


@dataclass
class AddedURLs:
    """What came of it. `added` + `known` + `refused` is how many were given."""

    added: int = 0
    known: int = 0
    refused: int = 0
    without_policy: int = 0  # of those added; they wait for one
    policies_made: int = 0
    # Of all that were given: how many of a domain no policy covers.
    resting_by_domain: dict[str, int] = field(default_factory=dict)
    refusals: list[tuple[str, str]] = field(default_factory=list)  # URL and reason, the first 100


class NewPolicies(NamedTuple):
    """What domains that have no policy at all are given."""

    by: Actor
    frequency_hours: int
    name: str = "Default"


def add_product_urls(urls: Iterable[str], *, source: str = "bots", policies: NewPolicies | None = None) -> AddedURLs:
    """Every URL that is new gets its row, its domain's row and its policy, and is due now. Takes them as they come, in
    transactions of 10,000, so it may be stopped and run again. For files: importing.import_product_urls."""
    total = AddedURLs()
    remaining = iter(urls)
    while batch := list(islice(remaining, BATCH)):
        found = list(_identified(batch, total))
        distinct = {one.url_hash: one for one in reversed(found)}  # of two spellings the first
        total.known += len(found) - len(distinct)
        add_identities(list(distinct.values()), total, source=source, policies=policies)
    return total


def _identified(urls: Sequence[str], total: AddedURLs) -> Iterator[Identity]:
    dropped = settings.CRAWLSPACE.tracking_params
    for url in urls:
        try:
            yield identify(url, dropped)
        except InvalidURL as error:
            total.refused += 1
            if len(total.refusals) < REFUSALS_KEPT:
                total.refusals.append((url[:2000], str(error)))


@transaction.atomic
def add_identities(
    found: list[Identity], total: AddedURLs, *, source: str, policies: NewPolicies | None = None
) -> None:
    """Add those that are new, each given once, and count them in `total`."""
    if not found:
        return
    names = {one.domain for one in found}
    remember(names, source, time.time())
    domain_ids = dict(Domain.objects.filter(name__in=names).values_list("name", "id"))
    rules = rules_by_domain(domain_ids.values())
    if policies and (bare := [domain_id for domain_id in domain_ids.values() if domain_id not in rules]):
        total.policies_made += _make_policies(policies, bare)
        rules = rules_by_domain(domain_ids.values())
    rows = _rows(found, domain_ids, rules)
    inserted = insert_new(rows)
    total.added += inserted.added
    total.known += len(rows) - inserted.added
    total.without_policy += inserted.without_policy
    for one, row in zip(found, rows, strict=True):
        if row.policy_id is None:
            total.resting_by_domain[one.domain] = total.resting_by_domain.get(one.domain, 0) + 1
    _notice_changes(rules, domain_ids.values())


def _rows(found: list[Identity], domain_ids: dict[str, Any], rules: dict[Any, list[Rule]]) -> list[NewURL]:
    by_domain = matchers(rules)
    rows = []
    for one in found:
        domain_id = domain_ids[one.domain]
        matcher = by_domain.get(domain_id)
        rows.append(NewURL(one.url_hash, one.url, domain_id, matcher.policy_of(one.url) if matcher else None))
    return rows


def _make_policies(policies: NewPolicies, domain_ids: list[Any]) -> int:
    for domain in Domain.objects.filter(pk__in=domain_ids):
        create_policy(policies.by, domain, policies.name, frequency_hours=policies.frequency_hours)
    return len(domain_ids)


def _notice_changes(rules: dict[Any, list[Rule]], domain_ids: Iterable[Any]) -> None:
    """A policy that was made or changed while we matched has to look through these URLs, too."""
    now = rules_by_domain(domain_ids)
    changed = [domain_id for domain_id in now if now[domain_id] != rules.get(domain_id)]
    if changed:
        CrawlPolicy.objects.filter(domain__in=changed).update(is_assigned=False)


@transaction.atomic
def remove_product_url(by: Actor, product: ProductURL, *, reason: str = "") -> None:
    """The URL and its open job go; results stay."""
    CrawlJob.objects.filter(product_url_hash=product.pk, status__in=list(OPEN)).delete()
    audit.record(by, "removed", product, reason=reason)
    product.delete()
