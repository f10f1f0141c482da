"""One product, with what is known of it now."""

from __future__ import annotations

from typing import Any

from crawler.bots.models import CrawlJob, CrawlResult, ProductURL
from crawler.bots.products.listing import product
from crawler.bots.states import OPEN
from crawler.foundation.errors import NotFound


def detail(url_hash: str) -> dict[str, Any]:
    """As the API shows it. Raises NotFound."""
    found = product(url_hash)
    if found is None:
        raise NotFound("There is no product with this hash", field="url_hash", reason=url_hash)
    streak = ProductURL.objects.filter(pk=url_hash).values_list("failure_streak", flat=True).first()
    return found._asdict() | {
        "failure_streak": streak or 0,
        "last_result": _last_result(url_hash),
        "open_job": _open_job(url_hash),
    }


def _last_result(url_hash: str) -> dict[str, Any] | None:
    result = CrawlResult.objects.filter(product_url_hash=url_hash).order_by("-id").first()
    if result is None:
        return None
    same = ("price", "currency", "in_stock", "title", "bot_id", "parsed_data", "storage_path")
    return {"result_id": result.id, "at": result.created_at} | {name: getattr(result, name) for name in same}


def _open_job(url_hash: str) -> dict[str, Any] | None:
    job = CrawlJob.objects.filter(product_url_hash=url_hash, status__in=list(OPEN)).first()
    if job is None:
        return None
    same = ("status", "priority", "retry_count", "max_retries", "locked_by", "locked_until", "created_at")
    return {"job_id": job.id} | {name: getattr(job, name) for name in same}
