"""Every setting of the platform, in the order `crawler config` prints them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crawler import __version__
from crawler.foundation.config import parsers

TRACKING_PARAMS = "utm_source,utm_medium,utm_campaign,utm_term,utm_content,fbclid,gclid,ref,source"


@dataclass(frozen=True)
class Setting:
    """One setting. ``{home}`` in a default stands for CRAWLER_HOME."""

    name: str
    parse: Callable[[str], Any]
    default: str
    help: str
    secret: bool = False


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "DATABASE_URL", parsers.database, "sqlite:///{home}/crawlspace.sqlite3", "SQLite file or PostgreSQL server"
    ),
    Setting("REDIS_URL", parsers.redis_url, "", "Redis for counters and the frontier; empty: the database does it"),
    Setting("ARCHIVE_URL", parsers.archive_url, "file://{home}/archive", "where fetched bytes rest: folder or bucket"),
    Setting(
        "SECRET_KEY", parsers.text, "", "signs sessions; generated and kept in CRAWLER_HOME when empty", secret=True
    ),
    Setting("BIND_ADDRESS", parsers.address, "127.0.0.1", "address the server listens on"),
    Setting("PORT", parsers.whole_number(1, 65535), "8005", "port the server listens on"),
    Setting("ALLOWED_HOSTS", parsers.hosts, "localhost,127.0.0.1,[::1]", "host names the server answers to"),
    Setting("PUBLIC_URL", parsers.public_url, "", "address people use, when it differs from BIND_ADDRESS and PORT"),
    Setting("TRUSTED_PROXIES", parsers.networks, "", "proxies (CIDR) whose X-Forwarded-For and -Proto are believed"),
    Setting("ADMIN_PATH", parsers.url_path, "/admin/secure-admin-2025/", "path of the admin pages"),
    Setting("SERVER_THREADS", parsers.whole_number(1, 256), "8", "requests one server process works on at once"),
    Setting("SERVER_PROCESSES", parsers.whole_number(1, 64), "1", "server processes"),
    Setting("LOG_LEVEL", parsers.one_of("debug", "info", "warning", "error"), "info", "least severe log line kept"),
    Setting(
        "RATE_LIMIT_JOBS",
        parsers.whole_number(0, 10**9),
        "100",
        "job management requests a minute and token; 0: no limit",
    ),
    Setting(
        "RATE_LIMIT_DATA",
        parsers.whole_number(0, 10**9),
        "1000",
        "data access requests a minute and token; 0: no limit",
    ),
    Setting(
        "RATE_LIMIT_MONITORING",
        parsers.whole_number(0, 10**9),
        "500",
        "monitoring requests a minute and token; 0: no limit",
    ),
    Setting("RATE_LIMIT_BOTS", parsers.whole_number(0, 10**9), "600000", "bot requests a minute and bot; 0: no limit"),
    Setting(
        "BOT_JOBS_KEEP_DAYS", parsers.whole_number(0, 36_500), "30", "days that finished bot jobs are kept; 0: all"
    ),
    Setting("ENABLE_DOMAIN_TRACKING", parsers.flag, "true", "keep a durable record of every domain met"),
    Setting("ENABLE_PER_DOMAIN_BUDGET", parsers.flag, "true", "limit pages per domain and run, not per run alone"),
    Setting("ENABLE_SMART_SCHEDULING", parsers.flag, "false", "choose what to crawl by the domains' scores"),
    Setting("ENABLE_CLAIM_PROTOCOL", parsers.flag, "false", "claim a domain before crawling it"),
    Setting("ENABLE_REFRESH_MODE", parsers.flag, "false", "visit exhausted domains again when they are due"),
    Setting("USER_AGENT", parsers.header_text, f"Crawlspace/{__version__}", "how the crawler introduces itself"),
    Setting("TRACKING_PARAMS", parsers.words, TRACKING_PARAMS, "query parameters that do not make another URL"),
    Setting("FETCH_ALLOWED_NETWORKS", parsers.networks, "", "private networks (CIDR) that fetches may reach"),
)
