"""`crawler crawl`: seeds in, pages out, no server needed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from crawler.cli.ready import load_django


def crawl(
    urls: Annotated[list[str], typer.Argument()],
    max_pages: Annotated[int | None, typer.Option()] = None,
    delay: Annotated[float, typer.Option()] = 1.0,
    out: Annotated[Path | None, typer.Option()] = None,
    no_outlinks: Annotated[bool, typer.Option("--no-outlinks")] = False,
    ignore_robots: Annotated[bool, typer.Option("--ignore-robots")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Crawl from seeds."""
    if out:
        os.environ["CRAWLER_HOME"] = str(out)
        os.environ["DATABASE_URL"] = f"sqlite:///{out.absolute()}/crawl.sqlite3"
        os.environ["ARCHIVE_URL"] = f"file://{out.absolute()}/archive"
    t0 = time.monotonic()
    load_django(migrated=False)
    from crawler.project.migrations import apply_migrations, pending_migrations
    if pending_migrations():
        apply_migrations()
    print("setup", time.monotonic() - t0)
    from crawler.crawls import actions
    from crawler.crawls.models import Crawl
    from crawler.crawls.working import work
    from crawler.engine.progress import Progress

    name = "crawl " + " ".join(urls)
    crawl = Crawl.objects.filter(name=name).first() or actions.create_crawl(name, urls, {"max_pages": max_pages, "crawl_delay_ms": delay * 1000, "store_outlinks": not no_outlinks, "respect_robots_txt": not ignore_robots}, {})
    actions.start_crawl(crawl)
    progress = Progress()
    began = time.monotonic()
    work(lambda: False, only=[crawl.pk], until_done=True, progress=progress)
    seconds = time.monotonic() - began
    print(json.dumps({"pages": progress.pages, "failed": progress.failed, "refused": progress.refused, "seconds": seconds, "rate": progress.pages/seconds, "parked": progress.parked}))
