"""One page, from its URL to the answer that is read: a generator that yields requests and gets answers."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from crawler.engine.pages import REDIRECTS
from crawler.engine.reading import HTML_TYPES, ContentTypes
from crawler.fetch.outcome import Failure, Request, Response, Truncation
from crawler.integrations.price_worker.manners import Manners
from crawler.integrations.price_worker.reasons import Unfetched, of_failure, of_status
from crawler.integrations.price_worker.robots import Answer, RobotsOfAll, Step
from crawler.web.headers import sniff
from crawler.web.urls import InvalidURL, resolve

SNIFFED_BYTES = 2048


class Visits:
    """Shared by all visits; keeps no state of one."""

    def __init__(self, manners: Manners, robots: RobotsOfAll) -> None:
        self.manners = manners
        self.robots = robots
        self.content_types = ContentTypes()

    def visit(self, url: str) -> Generator[Step, Answer, Response]:
        """The page, after redirects, each of which asks robots.txt. Raises Unfetched."""
        asked: list[str] = []
        url = _target(url, url)
        while True:
            yield from self.robots.judge(url)
            asked.append(url)
            answer = yield self._request(url)
            if isinstance(answer, Failure):
                raise of_failure(answer, self.manners)
            if answer.status not in REDIRECTS or not answer.location:
                return self._page(answer)
            url = self._hop(answer, asked)

    def _request(self, url: str) -> Request:
        return Request(
            url,
            timeout_seconds=self.manners.timeout_seconds,
            max_body_bytes=self.manners.max_body_bytes,
            wants_body=self._wants_body,
        )

    def _wants_body(self, status: int, headers: Mapping[str, str]) -> bool:
        """What is no page is not downloaded."""
        essence = self._essence(headers)
        return not essence or essence in HTML_TYPES

    def _hop(self, answer: Response, asked: list[str]) -> str:
        url = _target(answer.location or "", answer.url)
        if url in asked:
            raise Unfetched(f"redirects in a circle: {url}")
        if len(asked) > self.manners.max_redirects:
            raise Unfetched(f"more than {self.manners.max_redirects} redirects")
        return url

    def _page(self, answer: Response) -> Response:
        if not 200 <= answer.status < 300:
            raise of_status(answer)
        essence = self._essence(answer.headers) or _guessed(answer)
        if answer.truncated is Truncation.UNWANTED or essence not in HTML_TYPES:
            raise Unfetched(f"not a page: {essence}")
        return answer

    def _essence(self, headers: Mapping[str, str]) -> str:
        return self.content_types.parse(headers.get("content-type", ""))[0]


def _guessed(answer: Response) -> str:
    """The type of a body without one; what is still encoded cannot be looked into, and is taken for a page."""
    return "text/html" if "content-encoding" in answer.headers else sniff(answer.body[:SNIFFED_BYTES])


def _target(href: str, base: str) -> str:
    try:
        return resolve(href, base)
    except InvalidURL as error:
        raise Unfetched(f"cannot be fetched: {error}") from None
