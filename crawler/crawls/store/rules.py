"""A crawl's row as the engine's rules."""

from __future__ import annotations

from typing import Any

from crawler.crawls.models import Crawl
from crawler.engine.contract import CrawlRules


def rules_of(crawl: Crawl, run_id: str, user_agent: str) -> CrawlRules:
    """Fields that the row does not set take the platform's defaults."""
    return CrawlRules(
        id=crawl.pk,
        run_id=run_id,
        name=crawl.name,
        seeds=tuple(crawl.seed_urls),
        **_filters(crawl.filters or {}),
        **_config(crawl.config or {}, user_agent),
    )


def _filters(filters: dict[str, Any]) -> dict[str, Any]:
    names = ("allowed_domains", "url_patterns", "excluded_patterns")
    return {name: tuple(filters.get(name) or ()) for name in names}


SAME_NAME = (
    "max_depth", "max_pages", "follow_redirects", "max_redirects", "timeout_seconds", "max_body_bytes", "max_attempts",
    "per_host", "adaptive", "store_outlinks", "store_images", "use_sitemaps", "render", "proxy", "respect_nofollow",
)  # fmt: skip


def _config(config: dict[str, Any], user_agent: str) -> dict[str, Any]:
    rules = {name: config[name] for name in SAME_NAME if config.get(name) is not None}
    rules["user_agent"] = config.get("user_agent") or user_agent
    if config.get("crawl_delay_ms") is not None:
        rules["delay_seconds"] = config["crawl_delay_ms"] / 1000
    if config.get("respect_robots_txt") is not None:
        rules["respect_robots"] = config["respect_robots_txt"]
    if config.get("content_types"):
        rules["content_types"] = tuple(config["content_types"])
    if config.get("headers"):
        rules["headers"] = tuple((name, value) for name, value in config["headers"].items())
    return rules
