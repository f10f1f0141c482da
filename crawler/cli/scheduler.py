from crawler.cli.ready import load_django
from crawler.cli.serve import StopWithParent


def scheduler(stop_with_parent: StopWithParent = False) -> None:
    """Run the scheduler alone. Several may run; each task still runs once."""
    load_django()
    from django.utils.module_loading import autodiscover_modules

    from crawler.foundation.periodic import TASKS
    from crawler.processes import heartbeat
    from crawler.processes.scheduler import Scheduler

    autodiscover_modules("tasks")
    stop = heartbeat.stop_on_signals()
    if stop_with_parent:
        heartbeat.stop_with_parent()
    Scheduler(TASKS).run(stop)
