"""Which frontier the platform uses: the database, with Redis in front of it when REDIS_URL is set."""

from __future__ import annotations

from django.conf import settings
from django.db import connection, transaction

from crawler.frontier.contract import Frontier
from crawler.frontier.sql import SqlFrontier


def open_frontier() -> Frontier:
    """One for a process and thread: it remembers which queues it knows to be right."""
    record = SqlFrontier(connection.cursor, connection.vendor)
    url = settings.CRAWLSPACE.redis_url
    if not url:
        return record
    from crawler.frontier.mirrored import MirroredFrontier
    from crawler.frontier.redis_queue import open_queue
    from crawler.frontier.steps import SqlSteps

    steps = SqlSteps(connection.cursor, connection.vendor)
    return MirroredFrontier(record, open_queue(url), steps, transaction.on_commit)
