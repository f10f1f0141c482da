"""A site on this machine, and crawls of it by a real worker in the test's own process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple

from crawler.crawls import actions
from crawler.crawls.models import Crawl, FrontierURL
from crawler.crawls.working import work
from crawler.domains import claims, progress
from crawler.engine.contract import Ending, RobotsFile
from crawler.foundation.clock import database_now
from crawler.web.hosts import canonical_domain


class Answer(NamedTuple):
    status: int = 200
    body: str = ""
    content_type: str = "text/html; charset=utf-8"
    location: str = ""


def page(*links: str, title: str = "page") -> Answer:
    return Answer(body=f"<html><head><title>{title}</title></head><body>{''.join(links)}</body></html>")


def link(href: str, text: str = "a link", more: str = "") -> str:
    return f'<p><a href="{href}" {more}>{text}</a></p>'


class Site:
    """Answers from a table that may be changed at any time; what is not in it is 404."""

    def __init__(self, answers: dict[str, Answer]) -> None:
        self.answers = answers
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = site.answers.get(self.path, Answer(404))
                body = answer.body.encode()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(len(body)))
                if answer.location:
                    self.send_header("Location", answer.location)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    @property
    def domain(self) -> str:
        return f"127.0.0.1:{self.server.server_port}"

    def url(self, path: str) -> str:
        return f"http://{self.domain}{path}"


@contextmanager
def serving(answers: dict[str, Answer]) -> Iterator[Site]:
    site = Site(answers)
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        site.server.server_close()
        thread.join()


def allow_loopback(settings: Any, folder: Path) -> None:
    """Settings under which a worker may fetch from this machine; its archive goes to a folder of the test."""
    settings.CRAWLSPACE = replace(
        settings.CRAWLSPACE, fetch_allowed_networks=(ip_network("127.0.0.0/8"),), archive_url=f"file://{folder}/archive"
    )


def create(name: str, seeds: list[str], *, filters: dict[str, Any] | None = None, **config: Any) -> Crawl:
    quick = {"crawl_delay_ms": 0, "max_attempts": 1}
    return actions.create_crawl(name, seeds, quick | config, filters or {})


def crawl(name: str, seeds: list[str], *, filters: dict[str, Any] | None = None, **config: Any) -> Crawl:
    """Create it and work until nothing is left."""
    made = create(name, seeds, filters=filters, **config)
    actions.start_crawl(made)
    work(never, only=[made.pk], until_done=True)
    made.refresh_from_db()
    return made


def never() -> bool:
    """When to stop before everything is done."""
    return False


def park(origin: str) -> None:
    """What a worker leaves behind when an origin's robots.txt answers 503."""
    now = database_now().timestamp()
    domain = canonical_domain(origin)
    (claimed,) = claims.claim_due("worker-1", 1)
    progress.keep_robots(domain, RobotsFile(origin, now, now + 3600, 503, b""), "")
    claims.release([Ending(claimed, not_before=now + 3600)], now)


def row_of(crawl: Crawl, url: str) -> FrontierURL:
    return FrontierURL.objects.get(crawl=crawl, url=url)
