"""Policies, each write with its line in the audit log. Which URLs they cover is settled by `assign_policies`."""

from __future__ import annotations

import time
from typing import Any

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

from crawler.accounts import audit
from crawler.accounts.actors import Actor
from crawler.bots.actions.recording import check_fields, facts, record_change
from crawler.bots.models import CrawlJob, CrawlPolicy
from crawler.bots.states import JobState
from crawler.domains.models import Domain
from crawler.domains.progress import remember
from crawler.foundation.errors import Conflict

FACTS = (
    "name", "url_pattern", "frequency_hours", "priority", "max_retries", "retry_backoff_minutes", "timeout_seconds",
    "requeue_expired", "respect_host_limits", "enabled",
)  # fmt: skip
# What a pending job has from its policy, by the policy's names.
OF_JOBS = {
    "priority": "priority",
    "max_retries": "max_retries",
    "timeout_seconds": "lock_ttl_seconds",
    "respect_host_limits": "host_limited",
}


@transaction.atomic
def create_policy(by: Actor, domain: Domain, name: str, **fields: Any) -> CrawlPolicy:
    policy = CrawlPolicy(domain=domain, name=name, **fields)
    check_fields(policy)
    _check_name(policy)
    policy.save(force_insert=True)
    audit.record(by, "created", policy, after=facts(policy, FACTS) | {"domain": domain.name})
    return policy


@transaction.atomic
def create_policy_for(by: Actor, domain_name: str, name: str, **fields: Any) -> CrawlPolicy:
    """The same for a domain that may be new. `domain_name` is canonical."""
    remember([domain_name], "bots", time.time())
    return create_policy(by, Domain.objects.get(name=domain_name), name, **fields)


@transaction.atomic
def change_policy(by: Actor, policy: CrawlPolicy, changes: dict[str, Any], *, reason: str = "") -> CrawlPolicy:
    """Also of its pending jobs; those that are locked keep what they were pulled with."""
    policy = CrawlPolicy.objects.select_for_update().get(pk=policy.pk)
    before = facts(policy, FACTS)
    for name, value in changes.items():
        setattr(policy, name, value)
    check_fields(policy)
    _check_name(policy)
    policy.save()
    _, after = audit.changes(before, facts(policy, FACTS))
    if moved := {OF_JOBS[name]: value for name, value in after.items() if name in OF_JOBS}:
        if "max_retries" in moved:  # a job that waits for another attempt still gets it
            moved["max_retries"] = Greatest(Value(moved["max_retries"]), F("retry_count") + 1)
        CrawlJob.objects.filter(policy=policy, status=JobState.PENDING).update(**moved)
    record_change(by, policy, before, facts(policy, FACTS), reason)
    return policy


@transaction.atomic
def delete_policy(by: Actor, policy: CrawlPolicy, *, reason: str = "") -> None:
    """Its URLs go to other policies of the domain, or rest. Jobs and results stay."""
    audit.record(by, "deleted", policy, reason=reason, before=facts(policy, FACTS))
    policy.urls.update(policy=None, next_due_at=None)
    policy.delete()


def _check_name(policy: CrawlPolicy) -> None:
    same = CrawlPolicy.objects.filter(domain=policy.domain_id, name=policy.name).exclude(pk=policy.pk)
    if same.exists():
        raise Conflict(
            "A policy of this domain has this name already", field="name", reason=f"'{policy.name}' already exists"
        )
