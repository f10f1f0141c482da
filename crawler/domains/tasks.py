"""What has to happen to domains when their time has come."""

from django.db import connection

from crawler.domains.states import AUTOMATIC_RETRIES
from crawler.foundation.clock import clock_of
from crawler.foundation.periodic import periodic


@periodic("domains.end_cooldowns", every_seconds=60)
def end_cooldowns() -> str:
    """Blocked and unreachable domains are tried again after their cooldown, three times; then somebody has to reset
    them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE domains SET status = 'pending', consecutive_error_count = 0, next_crawl_after = NULL"
            f" WHERE status IN ('blocked', 'unreachable') AND next_crawl_after <= {clock_of().now}"
            " AND block_retries <= %s",
            [AUTOMATIC_RETRIES],
        )
        return f"{cursor.rowcount} domains may be tried again"
