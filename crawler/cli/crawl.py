"""`crawler crawl`: seeds in, pages out, no server needed. What it does is in crawler/cli/crawling/."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from crawler.cli.crawling.order import Order, check, read_seeds, with_seed_domains
from crawler.cli.crawling.running import Manner, run


def crawl(
    urls: Annotated[list[str] | None, typer.Argument(metavar="URL", help="Where to start.")] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="FILE", help="More URLs, one a line; - reads them from stdin.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for database and archive.")] = None,
    max_pages: Annotated[int | None, typer.Option(min=1, help="Stop after so many pages.")] = None,
    max_depth: Annotated[int | None, typer.Option(min=0, help="Clicks from a seed.")] = None,
    allow: Annotated[list[str] | None, typer.Option(metavar="REGEX", help="Only URLs in which one is found.")] = None,
    deny: Annotated[list[str] | None, typer.Option(metavar="REGEX", help="No URLs in which one is found.")] = None,
    allow_domain: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Beside the seeds' domains.")] = None,
    delay: Annotated[float | None, typer.Option(min=0, help="Seconds between requests to a host (1).")] = None,
    per_host: Annotated[int | None, typer.Option(min=1, max=64, help="Requests to a host at once (1).")] = None,
    timeout: Annotated[float | None, typer.Option(min=0.1, help="Seconds for one request (30).")] = None,
    user_agent: Annotated[str | None, typer.Option(metavar="TEXT", help="How to introduce ourselves.")] = None,
    processes: Annotated[int, typer.Option(min=1, max=64, help="Worker processes.")] = 1,
    sitemaps: Annotated[bool, typer.Option("--sitemaps", help="Read the sites' sitemaps, too.")] = False,
    render: Annotated[bool, typer.Option("--render", help="Run the pages' JavaScript in a browser.")] = False,
    no_outlinks: Annotated[bool, typer.Option("--no-outlinks", help="Do not store who links to whom.")] = False,
    ignore_robots: Annotated[bool, typer.Option("--ignore-robots", help="Do not ask for robots.txt.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Visit the pages of a complete crawl once more.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
) -> None:
    """Crawl from some URLs, here and now. Interrupted, the same command resumes."""
    starts = read_seeds(urls or (), seeds)
    order = Order(
        starts,
        allow=tuple(allow or ()),
        deny=tuple(deny or ()),
        domains=with_seed_domains(starts, allow_domain or ()),
        max_depth=max_depth,
        robots=not ignore_robots,
        outlinks=not no_outlinks,
        sitemaps=sitemaps,
        render=render,
        user_agent=user_agent,
        max_pages=max_pages,
        delay_seconds=delay,
        per_host=per_host,
        timeout_seconds=timeout,
    )
    check(order)
    sys.exit(run(order, Manner(out, processes, again, as_json, quiet)))
