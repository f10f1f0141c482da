"""A million product URLs come in and become due: how long until each has its job, on PostgreSQL with its defaults.

    python -m benchmarks.bots.bench_schedule [--urls N]

The URLs come by the platform's own import (`add_product_urls`) and become jobs by its own scheduler (`schedule_due`).
"""

import argparse
import sys

from benchmarks.bots.filling import DOMAINS, HOSTS, POLICIES, manage
from benchmarks.bots.postgres import private_postgres, stop_on_sigterm

TARGET_SECONDS = 60.0
TIMED = """
import time
from crawler.bots import actions
began = time.perf_counter()
{work}
print(time.perf_counter() - began)
"""
IMPORT = (
    "actions.add_product_urls("
    'f"https://shop{{n % {hosts} + 1}}.example/product/{{n // {hosts}}}" for n in range({urls}))'
)
SCHEDULE = "actions.schedule_due()"


def seconds_of(url: str, work: str) -> float:
    return float(manage(url, "shell", "--verbosity", "0", "--command", TIMED.format(work=work)))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--urls", type=int, default=1_000_000)
    urls = parser.parse_args(sys.argv[1:]).urls
    stop_on_sigterm()
    with private_postgres() as postgres:
        postgres.create("platform")
        address = postgres.url("platform")
        manage(address, "migrate", "--verbosity", "0")
        postgres.execute("platform", DOMAINS, POLICIES)
        imported = seconds_of(address, IMPORT.format(hosts=HOSTS, urls=urls))
        print(f"  {imported:6.1f} s  {urls:,} URLs imported, {urls / imported:,.0f} a second", flush=True)
        scheduled = seconds_of(address, SCHEDULE)
        jobs = postgres.value("platform", "SELECT count(*) FROM bot_jobs WHERE status = 'pending'")
        print(f"  {scheduled:6.1f} s  {jobs:,} due URLs became jobs, {jobs / scheduled:,.0f} a second")
    target = TARGET_SECONDS * urls / 1_000_000
    met = scheduled <= target and jobs == urls
    print(f"scheduling: {scheduled:.1f} s  target at most {target:g} s: {'met' if met else 'MISSED'}")
    return int(jobs != urls)


if __name__ == "__main__":
    raise SystemExit(main())
