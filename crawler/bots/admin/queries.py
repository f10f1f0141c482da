"""What the admin pages look up: along an index, or within a bound."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from crawler.bots.identity import identify
from crawler.bots.models import BotConfig, CrawlJob, CrawlPolicy, CrawlResult, ProductURL
from crawler.bots.models.in_states import in_states
from crawler.bots.models.url_start import START_LETTERS, UrlStart
from crawler.bots.states import LOST, OPEN
from crawler.domains.models import Domain
from crawler.frontier.bulk import list_of, members, timestamp, uuid_key
from crawler.web.hosts import canonical_domain
from crawler.web.urls import InvalidURL

HASH = re.compile(r"\A[0-9a-f]{64}\Z")
BEGINNING_OF_HASH = re.compile(r"\A[0-9a-f]{6,63}\Z")
LAST_CHARACTER = "\U0010ffff"
MOST_FOUND = 500  # products, or jobs of them, that one search gives
MOST_DOMAINS = 50
MOST_CHARTED = 2_000
RECENT = 20
MOST_COUNTED_OF_A_BOT = 1_000


# --- products -----------------------------------------------------------------------------------------------------


def products_like(rows: QuerySet[ProductURL], text: str) -> QuerySet[ProductURL]:
    """By hash or its beginning, by URL or its beginning, by domain or its beginning; `https://` may be left out."""
    text = text.strip()
    if HASH.match(text.lower()):
        return rows.filter(pk=text.lower())
    if (known := _hash_of(text)) and rows.filter(pk=known).exists():
        return rows.filter(pk=known)
    if BEGINNING_OF_HASH.match(text.lower()):
        return rows.filter(pk__gte=text.lower(), pk__lt=text.lower() + "g")
    return _products_at(rows, text)


def _products_at(rows: QuerySet[ProductURL], text: str) -> QuerySet[ProductURL]:
    scheme, given, rest = text.rpartition("://")
    host, slash, path = rest.partition("/")
    domain_ids = domains_like(host)
    if not slash:
        return rows.filter(domain__in=domain_ids)
    schemes = (scheme.lower(),) if given else ("https", "http")
    of_domain = ProductURL.objects.filter(domain__in=domain_ids[:1]).alias(start=UrlStart("url"))
    beginnings = [f"{one}://{name}/{path}" for one in schemes for name in _spellings(host.lower())]
    found = [url_begins(beginning) for beginning in beginnings]
    there = [one for one in found if of_domain.filter(one).exists()]  # one range is found in order, several are not
    if not there:
        return rows.none()
    return rows.alias(start=UrlStart("url")).filter(reduce(or_, there), domain__in=domain_ids[:1])


def url_begins(beginning: str) -> Q:
    """For rows that have their UrlStart as `start`: a range of its index."""
    start = beginning[:START_LETTERS]
    if len(beginning) <= START_LETTERS:
        return Q(start__gte=start, start__lt=start + LAST_CHARACTER)
    return Q(start=start, url__startswith=beginning)


def _spellings(host: str) -> tuple[str, ...]:
    """URLs are kept as they were given, so the domain example.com may have them with and without www."""
    bare = host.removeprefix("www.")
    return (bare, f"www.{bare}")


def _hash_of(text: str) -> str | None:
    for url in (text, f"https://{text}") if "://" not in text else (text,):
        try:
            return identify(url).url_hash
        except InvalidURL:
            continue
    return None


def domains_like(text: str) -> list[UUID]:
    """The domain of that name; else those whose names begin so, the first fifty."""
    name = _domain_name(text)
    exact = list(Domain.objects.filter(name=name).values_list("pk", flat=True))
    if exact or not text.strip():
        return exact
    beginning = Domain.objects.filter(name__startswith=text.strip().lower()).order_by("name")
    return list(beginning.values_list("pk", flat=True)[:MOST_DOMAINS])


def _domain_name(text: str) -> str:
    try:
        return canonical_domain(text.strip())
    except InvalidURL:
        return text.strip().lower()


def hashes_like(text: str) -> list[str]:
    """Of products that a search finds, the first 500."""
    found = products_like(ProductURL.objects.all(), text).order_by()
    return list(found.values_list("pk", flat=True)[:MOST_FOUND])


def product_of(url_hash: str) -> ProductURL | None:
    return ProductURL.objects.filter(pk=url_hash).first()


def story_of_product(url_hash: str) -> dict[str, Any]:
    """Its last results and jobs, and its prices as the chart takes them."""
    results = CrawlResult.objects.filter(product_url_hash=url_hash).order_by("-id").defer("parsed_data")
    newest = list(results[:MOST_CHARTED])
    return {
        "results": newest[:RECENT],
        "jobs": jobs_of([url_hash]),
        "chart": charted(newest[::-1]),
        "is_cut": len(newest) == MOST_CHARTED,
    }


def charted(results: list[CrawlResult]) -> dict[str, Any]:
    """Seconds since 1970, and a line of prices for each currency. Floats: they are only drawn."""
    currencies = sorted({result.currency for result in results})
    return {
        "times": [round(result.created_at.timestamp(), 3) for result in results],
        "lines": [
            {
                "currency": currency,
                "prices": [float(result.price) if result.currency == currency else None for result in results],
            }
            for currency in currencies
        ],
    }


def jobs_of(hashes: list[str]) -> list[CrawlJob]:
    """The newest jobs of these products."""
    return list(CrawlJob.objects.filter(pk__in=job_ids_of(hashes, RECENT)).order_by("-id"))


# --- jobs ---------------------------------------------------------------------------------------------------------


def jobs_like(rows: QuerySet[CrawlJob], text: str) -> QuerySet[CrawlJob]:
    """By job id, bot id, domain, URL or hash of a URL (or the beginning of one)."""
    text = text.strip()
    if job_id := _uuid(text):
        return rows.filter(pk=job_id)
    if BotConfig.objects.filter(bot_id=text).exists():
        return rows.filter(last_locked_by=text)
    if "/" not in text and (domain_ids := domains_like(text)):
        return rows.filter(domain__in=domain_ids)
    return rows.filter(pk__in=job_ids_of(hashes_like(text)))


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def job_ids_of(hashes: list[str], most: int = MOST_FOUND) -> list[UUID]:
    """Jobs of these products. No index has them all: open ones, failed and expired ones have one each, and the jobs
    that are done are known by their results."""
    if not hashes:
        return []
    jobs = CrawlJob.objects.filter(product_url_hash__in=hashes).order_by()
    open_ones = jobs.filter(in_states(*OPEN))
    lost = jobs.filter(in_states(*LOST))
    done = CrawlResult.objects.filter(product_url_hash__in=hashes).order_by("-id").values_list("job_id", flat=True)
    found = [*open_ones.values_list("pk", flat=True)[:most], *lost.values_list("pk", flat=True)[:most], *done[:most]]
    return sorted(found, reverse=True)[:most]


def has_job(job_id: UUID) -> bool:
    """Old ones are forgotten; their results stay."""
    return CrawlJob.objects.filter(pk=job_id).exists()


def history_of_job(job: CrawlJob) -> dict[str, Any]:
    """What came of it, and of its URL before and after."""
    results = CrawlResult.objects.filter(product_url_hash=job.product_url_hash).order_by("-id").defer("parsed_data")
    others = [other for other in jobs_of([job.product_url_hash]) if other.pk != job.pk]
    return {"results": list(results[:RECENT]), "jobs": others}


def made_since(moment: datetime) -> Q:
    """By the time in the id, which has an index, and by the very time."""
    return Q(pk__gte=first_id_of(moment), created_at__gte=moment)


def first_id_of(moment: datetime) -> UUID:
    """Before any UUIDv7 of that moment, also of a machine whose clock is a second late."""
    return UUID(int=max(int(moment.timestamp() * 1000) - 1000, 0) << 80)


# --- results ------------------------------------------------------------------------------------------------------


def results_like(rows: QuerySet[CrawlResult], text: str) -> QuerySet[CrawlResult]:
    """By result id, job id, bot id, URL or hash of a URL (or the beginning of one)."""
    text = text.strip()
    if key := _uuid(text):
        return rows.filter(Q(pk=key) | Q(job_id=key))
    if BotConfig.objects.filter(bot_id=text).exists():
        return rows.filter(bot_id=text)
    return rows.filter(product_url_hash__in=hashes_like(text))


def urls_by_hash(hashes: Iterable[str]) -> dict[str, str]:
    return dict(ProductURL.objects.filter(pk__in=set(hashes)).values_list("pk", "url"))


# --- bots ---------------------------------------------------------------------------------------------------------


class Work(NamedTuple):
    locked: int
    done: int
    failed: int


# Each count is one look at an index, and ends at one more than 1,000.
WORK = """
SELECT bot.bot_id,
    (SELECT count(*) FROM (
        SELECT 1 FROM bot_jobs WHERE status = 'locked' AND locked_by = bot.bot_id LIMIT {most}) AS few),
    (SELECT count(*) FROM (
        SELECT 1 FROM crawl_results AS found WHERE found.bot_id = bot.bot_id AND found.id >= %s LIMIT {most}) AS few),
    (SELECT count(*) FROM (
        SELECT 1 FROM bot_jobs WHERE status = 'failed' AND last_locked_by = bot.bot_id AND finished_at >= %s
        LIMIT {most}) AS few)
FROM bot_configs AS bot WHERE bot.bot_id {names}
"""


def work_by_bot(bot_ids: list[str]) -> dict[str, Work]:
    """What each holds now, did in the last 24 hours, and failed at in the last 24 hours."""
    yesterday, vendor = timezone.now() - timedelta(days=1), connection.vendor
    statement = WORK.format(most=MOST_COUNTED_OF_A_BOT + 1, names=members(vendor, "text"))
    first_id = uuid_key(vendor, first_id_of(yesterday))
    with connection.cursor() as cursor:
        cursor.execute(statement, [first_id, timestamp(yesterday.timestamp()), list_of(vendor, bot_ids)])
        return {row[0]: Work(*row[1:]) for row in cursor.fetchall()}


def counted_to(count: int) -> str:
    return f"more than {MOST_COUNTED_OF_A_BOT:,}" if count > MOST_COUNTED_OF_A_BOT else f"{count:,}"


# --- policies -----------------------------------------------------------------------------------------------------


def policies_like(rows: QuerySet[CrawlPolicy], text: str) -> QuerySet[CrawlPolicy]:
    return rows.filter(Q(name__icontains=text.strip()) | Q(domain__in=domains_like(text)))


def policies_with_next_run(rows: QuerySet[CrawlPolicy]) -> QuerySet[CrawlPolicy]:
    """`earliest_due_at` is `next_run_at` without a query a row."""
    due = ProductURL.objects.filter(~Q(next_due_at=None), policy=OuterRef("pk")).order_by("next_due_at")
    return rows.annotate(earliest_due_at=Subquery(due.values("next_due_at")[:1]))


def policy_of(policy_id: Any) -> CrawlPolicy | None:
    return CrawlPolicy.objects.filter(pk=policy_id).first()
