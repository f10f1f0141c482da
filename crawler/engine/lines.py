"""Two ways to get a page: the HTTP client, and the browser for crawls that need JavaScript. The loop sees one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from crawler.fetch.client import Fetcher
from crawler.fetch.outcome import Failure, FailureKind, Request, Response

if TYPE_CHECKING:  # an optional extra, and slow to load
    from crawler.fetch.browser import Renderer

Finished = tuple[Any, Response | Failure]


class Lines:
    """`make_renderer` is called for the first page to be rendered; a missing browser fails pages, nothing else."""

    def __init__(self, fetcher: Fetcher, make_renderer: Callable[[], Renderer]) -> None:
        self._fetcher = fetcher
        self._make_renderer = make_renderer
        self._renderer: Renderer | None = None
        self._failed: list[Finished] = []

    @property
    def in_flight(self) -> int:
        rendered = self._renderer.in_flight if self._renderer else 0
        return self._fetcher.in_flight + rendered + len(self._failed)

    def allow_per_address(self, requests: int) -> None:
        self._fetcher.allow_per_address(requests)

    def start(self, request: Request, ticket: Any) -> None:
        if not ticket.render:
            self._fetcher.start(request, ticket)
        elif (renderer := self._open_renderer(ticket)) is not None:
            renderer.start(request, ticket)

    def _open_renderer(self, ticket: Any) -> Renderer | None:
        if self._renderer is None:
            from crawler.fetch.browser import BrowserUnavailable

            try:
                self._renderer = self._make_renderer()
            except BrowserUnavailable as error:
                self._failed.append((ticket, Failure(FailureKind.INCOMPLETE, f"no browser: {error}", temporary=False)))
                return None
            self._fetcher.watch(self._renderer.descriptor)
        return self._renderer

    def wait(self, timeout_seconds: float) -> list[Finished]:
        failed, self._failed = self._failed, []
        finished = failed + self._fetcher.wait(0.0 if failed else timeout_seconds)
        return finished + self._renderer.finished() if self._renderer else finished

    def close(self) -> None:
        if self._renderer:
            self._fetcher.unwatch(self._renderer.descriptor)
            self._renderer.close()
        self._fetcher.close()
