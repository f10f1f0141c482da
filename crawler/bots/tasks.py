"""What has to happen to jobs and URLs when their time has come."""

from django.conf import settings

from crawler.bots import actions
from crawler.bots.webhooks.courier import BACKGROUND
from crawler.foundation.periodic import periodic


@periodic("bots.expire_locks", every_seconds=5)
def expire_locks() -> str:
    return f"ended {actions.expire_overdue()} locks whose time was over"


@periodic("bots.schedule_due", every_seconds=5)
def schedule_due() -> str:
    moved = actions.assign_policies()
    return f"made {actions.schedule_due()} jobs of URLs that were due; {moved} URLs changed their policy"


@periodic("bots.tell_webhooks", every_seconds=2)
def tell_webhooks() -> str:
    """Sending goes on beside the scheduler, in a thread of its own."""
    published = actions.publish_changes()
    under_way = BACKGROUND.start_if_needed()
    return f"published {published} changes; {'messages are being sent' if under_way else 'no message is due'}"


@periodic("bots.forget_old", every_seconds=600)
def forget_old() -> str:
    jobs = actions.forget_old_jobs(settings.CRAWLSPACE.bot_jobs_keep_days)
    return f"deleted {jobs} old jobs and {actions.forget_old_deliveries()} old webhook deliveries"
