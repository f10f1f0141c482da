"""One worker of `crawler crawl --processes N`: `python -m crawler.cli.crawling.child CRAWL NAME`.

Reports on standard output, a line whenever something changed, four times a second at most. Ends by itself when there is
nothing left to fetch, when it is asked to, and when the command that started it is gone.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from crawler.cli.crawling.figures import Eye, to_line

REPORT_SECONDS = 0.25


def main(crawl_id: int, name: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.project.crawl_settings"
    import django

    django.setup()
    from crawler.cli.crawling.crew import LIMITS_OF_SEVERAL, OneWorker
    from crawler.processes import heartbeat

    stop = heartbeat.stop_on_signals()
    heartbeat.stop_with_parent()
    worker = OneWorker(crawl_id, f"{name}:{os.getpid()}", LIMITS_OF_SEVERAL)
    ended = threading.Event()
    reporter = threading.Thread(target=report, args=(worker.eye, ended), daemon=True)
    reporter.start()
    try:
        worker.work(stop.is_set)
    finally:
        ended.set()
        reporter.join(timeout=2)


def report(eye: Eye, ended: threading.Event) -> None:
    """Looking costs at most one part in a hundred of our time, however many domains there are to look at."""
    last, pause = b"", REPORT_SECONDS
    is_last = False
    while not is_last:
        is_last = ended.wait(pause)
        began = time.thread_time()
        line = to_line(eye.figures())
        if line != last:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            last = line
        pause = max(REPORT_SECONDS, 100 * (time.thread_time() - began))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
