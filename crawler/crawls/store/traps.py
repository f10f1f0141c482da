"""The gate's counters of a domain, kept between claims."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.db import connection

from crawler.crawls.models import CrawlDomain
from crawler.engine.contract import Claimed, Ending
from crawler.frontier.bulk import insert_many

COLUMNS = {"crawl_id": "bigint", "domain": "text", "trap_counters": "jsonb"}


def load(claimed: Sequence[Claimed]) -> None:
    by_name = {one.name: one for one in claimed}
    for row in CrawlDomain.objects.filter(domain__in=list(by_name)):
        by_name[row.domain].traps_by_crawl[row.crawl_id] = row.trap_counters


def save(endings: Sequence[Ending]) -> None:
    rows = [
        (crawl_id, one.claimed.name, json.dumps(counters))
        for one in endings
        for crawl_id, counters in one.traps_by_crawl.items()
    ]
    conflict = "ON CONFLICT (crawl_id, domain) DO UPDATE SET trap_counters = excluded.trap_counters"
    with connection.cursor() as cursor:
        insert_many(cursor, connection.vendor, "crawl_domains", COLUMNS, rows, conflict)
