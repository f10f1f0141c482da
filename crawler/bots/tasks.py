"""What has to happen to jobs and URLs when their time has come."""

from crawler.bots import actions
from crawler.foundation.periodic import periodic


@periodic("bots.expire_locks", every_seconds=5)
def expire_locks() -> str:
    return f"ended {actions.expire_overdue()} locks whose time was over"


@periodic("bots.schedule_due", every_seconds=5)
def schedule_due() -> str:
    moved = actions.assign_policies()
    return f"made {actions.schedule_due()} jobs of URLs that were due; {moved} URLs changed their policy"
