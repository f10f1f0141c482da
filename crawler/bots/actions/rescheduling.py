"""When URLs are due again. finish_postgresql has the same as a part of its one statement."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from crawler.frontier.bulk import list_of, members

# After success by the policy's frequency, after the n-th failure in a row by its backoff times 1, 2, 4, 8.
DUE = {
    "postgresql": "(SELECT statement_timestamp() + CASE WHEN %s THEN frequency_hours * interval '1 hour' ELSE"
    " retry_backoff_minutes * (1 << least(url.failure_streak, 3)) * interval '1 minute' END"
    " FROM crawl_policies WHERE id = url.policy_id)",
    "sqlite": "(SELECT strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', CASE WHEN %s THEN frequency_hours * 60 ELSE"
    " retry_backoff_minutes * (1 << min(url.failure_streak, 3)) END || ' minutes')"
    " FROM crawl_policies WHERE id = url.policy_id)",
}
RESCHEDULE = (
    "UPDATE product_urls AS url SET next_due_at = {due},"
    " failure_streak = CASE WHEN %s THEN 0 WHEN failure_streak < 1000 THEN failure_streak + 1 ELSE failure_streak END"
    " WHERE url_hash {hashes}"
)


def reschedule(url_hashes: Sequence[str], *, success: bool) -> None:
    """A URL without a policy is never due."""
    if not url_hashes:
        return
    vendor = connection.vendor
    statement = RESCHEDULE.format(due=DUE[vendor], hashes=members(vendor, "text"))
    with connection.cursor() as cursor:
        cursor.execute(statement, [success, success, list_of(vendor, url_hashes)])
