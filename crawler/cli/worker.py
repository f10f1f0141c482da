from crawler.cli.ready import load_django
from crawler.cli.serve import StopWithParent


def worker(stop_with_parent: StopWithParent = False) -> None:
    """Run one worker process alone."""
    load_django()
    from crawler.processes import heartbeat
    from crawler.processes import worker as process

    stop = heartbeat.stop_on_signals()
    if stop_with_parent:
        heartbeat.stop_with_parent()
    process.run(stop)
