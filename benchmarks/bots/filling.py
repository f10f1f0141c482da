"""A platform's database with many pending jobs, by bulk SQL: the same rows that the scheduler makes, in less time."""

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.bots.postgres import Postgres

ROOT = Path(__file__).resolve().parents[2]
# Hosts keep their clocks, which pulls have to move; but here they do not hold anybody up.
DELAY_MS = 10
HOSTS = 1000

DOMAINS = f"""
INSERT INTO domains (id, domain, crawl_delay_ms)
SELECT gen_random_uuid(), 'shop' || n || '.example', {DELAY_MS} FROM generate_series(1, {HOSTS}) AS n"""
POLICIES = """
INSERT INTO crawl_policies (domain_id, name, is_assigned, updated_at)
SELECT id, 'all', TRUE, now() FROM domains"""
URLS = """
INSERT INTO product_urls (url_hash, url, domain_id, policy_id)
SELECT encode(sha256(url::bytea), 'hex'), url, domain_id, policy_id
FROM (SELECT 'https://' || domain || '/product/' || n AS url, domains.id AS domain_id, policy.id AS policy_id
      FROM domains JOIN crawl_policies AS policy ON policy.domain_id = domains.id,
           generate_series(1, {each}) AS n) AS made"""
JOBS = """
INSERT INTO bot_jobs (id, policy_id, domain_id, product_url_hash, status, priority, max_retries, lock_ttl_seconds,
    host_limited, created_at)
SELECT ('019a0000-0000-7' || substr(place, 1, 3) || '-a' || substr(place, 4)
        || substr(gen_random_uuid()::text, 24))::uuid,
    policy_id, domain_id, url_hash, 'pending', 5, 3, 600, TRUE, now() - interval '1 minute'
FROM (SELECT *, lpad(to_hex(row_number() OVER (ORDER BY url_hash)), 6, '0') AS place FROM product_urls) AS mixed"""
# Indexes that are filled row by row would take most of the time.
LATE_INDEXES = ("bot_jobs_queue", "bot_jobs_host_queue", "bot_jobs_one_open")


def token_of(bot: int) -> str:
    return f"bot_bench-{bot}_{'x' * 43}"


def bots_sql(count: int) -> str:
    """Each with a token for HTTP; their numbers are the bots of pgbench's clients."""
    rows = [(f"bench-{n}", hashlib.sha256(token_of(n).encode()).hexdigest()) for n in range(count)]
    rows += [(str(n), str(n)) for n in range(count)]
    return "INSERT INTO bot_configs (bot_id, token_hash) VALUES " + ", ".join(f"('{a}', '{b}')" for a, b in rows)


def fill(postgres: Postgres, database: str, jobs: int, bots: int) -> None:
    postgres.create(database)
    manage(postgres.url(database), "migrate", "--verbosity", "0")
    indexes = [postgres.value(database, f"SELECT pg_get_indexdef('{name}'::regclass)") for name in LATE_INDEXES]
    postgres.execute(
        database,
        "SET synchronous_commit = off; SET work_mem = '256MB'; SET maintenance_work_mem = '256MB'",
        DOMAINS,
        POLICIES,
        URLS.format(each=jobs // HOSTS),
        *(f"DROP INDEX {name}" for name in LATE_INDEXES),
        JOBS,
        *indexes,
        bots_sql(bots),
        "VACUUM ANALYZE",
    )


def manage(url: str, *arguments: str) -> str:
    """What it printed."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"DATABASE_URL": url, "CRAWLER_HOME": home, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"manage.py {arguments[0]} failed: {done.stderr[-2000:]}")
        return done.stdout


SQLITE_JOBS = 20_000
SQLITE_FILL = """
import hashlib
from crawler.bots import actions
from crawler.bots.models import BotConfig, CrawlPolicy
from crawler.domains.models import Domain
from benchmarks.bots.filling import SQLITE_JOBS, token_of
for n in range(100):
    CrawlPolicy.objects.create(domain=Domain.objects.create(name=f"shop{n}.example", crawl_delay_ms=10), name="all")
actions.add_product_urls(f"https://shop{n % 100}.example/product/{n}" for n in range(SQLITE_JOBS))
actions.schedule_due()
for n in range(64):
    BotConfig.objects.create(bot_id=f"bench-{n}", token_hash=hashlib.sha256(token_of(n).encode()).hexdigest())
"""


@contextmanager
def sqlite_platform() -> Iterator[str]:
    """The address of a filled SQLite file, by the platform's own actions."""
    with tempfile.TemporaryDirectory(prefix="crawlspace-bench-") as folder:
        url = f"sqlite:///{folder}/platform.db"
        manage(url, "migrate", "--verbosity", "0")
        manage(url, "shell", "--verbosity", "0", "--command", SQLITE_FILL)
        yield url
