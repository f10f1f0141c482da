"""One worker in a process of its own, for measurements that `crawler crawl` has no options for. A program:

    python -m benchmarks.engine.worker_process < spec.json

The database and the archive come from the environment, as for the platform. The spec is an object:

    name, seeds, config   the crawl; it is made if there is none of that name, else its config is replaced
    make_only             true: stop after that
    seconds, pages        work so long, or until so many pages; without either, until nothing is left

One JSON object comes out: crawl, pages, failed, refused, seconds, peak_mb.
"""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from crawler.cli.ready import load_django


def main(spec: dict[str, Any]) -> None:
    load_django(migrated=False)
    from crawler.project.migrations import apply_migrations, pending_migrations

    if pending_migrations():
        apply_migrations()
    crawl = _crawl(spec)
    figures = {} if spec.get("make_only") else _work(crawl, spec)
    print(json.dumps({"crawl": crawl.pk} | figures))


def _crawl(spec: dict[str, Any]) -> Any:
    from crawler.crawls import actions
    from crawler.crawls.models import Crawl

    crawl = Crawl.objects.filter(name=spec["name"]).first()
    if crawl is None:
        return actions.create_crawl(spec["name"], spec["seeds"], spec["config"], {})
    crawl.config = spec["config"]
    crawl.save(update_fields=["config"])
    return crawl


def _work(crawl: Any, spec: dict[str, Any]) -> dict[str, Any]:
    from crawler.crawls import actions
    from crawler.crawls.working import work
    from crawler.engine.progress import Progress

    actions.start_crawl(crawl)
    progress = Progress()
    began = time.monotonic()
    until, enough = began + spec.get("seconds", float("inf")), spec.get("pages", float("inf"))
    until_done = "seconds" not in spec and "pages" not in spec
    stop = lambda: progress.pages >= enough or time.monotonic() >= until  # noqa: E731
    work(stop, only=[crawl.pk], until_done=until_done, progress=progress)
    took = time.monotonic() - began
    return {
        "pages": progress.pages, "failed": progress.failed, "refused": progress.refused, "seconds": took,
        "peak_mb": _peak_mb(),
    }  # fmt: skip


def _peak_mb() -> float:
    """Of this program alone: what wait4 tells of a child may be what its parent had at the fork."""
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(kilobytes) / 1024


if __name__ == "__main__":
    main(json.load(sys.stdin))
