"""One page, from request to outcome, in a browser context of its own.

The main document's answer is looked at before Chromium acts on it: a redirect is reported, not followed; what is not
HTML is handed on as it came. A page counts as done when its document is parsed and the network was quiet for half a
second, or when it has been busy for too long. Where a script wants to go on to another page it is held back, and
the place is told as a Refresh header.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from enum import StrEnum
from time import monotonic
from typing import Any
from urllib.parse import urldefrag, urlsplit

from playwright.async_api import CDPSession, Error, Page, Route
from playwright.async_api import Request as BrowserRequest

from crawler.fetch.browser import answers
from crawler.fetch.browser.answers import Headers, Kind
from crawler.fetch.browser.gateway import Passage
from crawler.fetch.browser.options import PageLimits
from crawler.fetch.browser.quiet import Quiet
from crawler.fetch.browser.streams import endpoint_of
from crawler.fetch.header_block import parsed_headers
from crawler.fetch.origins import FETCHABLE
from crawler.fetch.outcome import Failure, FailureKind, Request, Response, Truncation

DOCUMENTS = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"}
READ_BYTES = 256 * 1024
# Done means: no request under way for so long.
QUIET_SECONDS = 0.5
# Kept back from the page's time to write down what is there.
RESERVE_SECONDS, RESERVE_SHARE = 3.0, 0.25
# Run in a world of its own, where the page's scripts have changed nothing.
SERIALISE = """(limit => {
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + "\\n" : "";
  const html = type + (document.documentElement ? document.documentElement.outerHTML : "");
  return {html: html.slice(0, limit), cut: html.length > limit};
})(%d)"""

# Is the body wanted, given status and header block?
AskWanted = Callable[[int, bytes], Awaitable[bool]]


class Verdict(StrEnum):
    """What becomes of a request the page wants to make, by Playwright's names for errors."""

    MADE = ""
    REFUSED = "blockedbyclient"
    ABANDONED = "aborted"  # the page stays where it is; any other error would be shown instead of it


class Rendering:
    """Good for one page. `outcome` may raise Playwright's Error; `failure` then says what it meant."""

    def __init__(self, page: Page, request: Request, passage: Passage, limits: PageLimits, ask: AskWanted) -> None:
        self.page = page
        self.request = request
        self.passage = passage
        self.limits = limits
        self.ask = ask
        self.began = monotonic()
        self.requests = 0
        self.status = 0
        self.headers: Headers = []
        self.first_byte_seconds = 0.0
        self.finished_early: Response | None = None
        self.moves_to: str | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        self.quiet = Quiet(page)
        self.parsed = asyncio.Event()
        page.on("domcontentloaded", lambda _: self.parsed.set() if self.status else None)
        self.crash = asyncio.Event()
        page.on("crash", lambda _: self.crash.set())

    async def outcome(self) -> Response:
        await self._hold_the_reins()
        try:
            await self.page.goto(self.request.url, wait_until="commit", timeout=0)
        except Error:
            if self.finished_early is None:
                raise
        return self.finished_early or await self._rendered()

    def failure(self, error: BaseException) -> Failure:
        """The gateway knows better than the browser why there was no connection."""
        if known := self.passage.failures.get(self._endpoint):
            return Failure(known.kind, known.message, known.temporary, self._seconds)
        return answers.failure_of(str(error), self._seconds)

    def time_is_up(self) -> Failure:
        """Whose fault: before the answer the host's, after it the page's."""
        kind = FailureKind.INCOMPLETE if self.status else FailureKind.TIMEOUT
        message = f"not rendered in {self.request.timeout_seconds:g} s"
        return Failure(kind, message, temporary=True, seconds=self._seconds)

    def crashed(self) -> Failure:
        message = "the page crashed, or took too much memory and was killed"
        return Failure(FailureKind.INCOMPLETE, message, temporary=True, seconds=self._seconds)

    @property
    def _seconds(self) -> float:
        return monotonic() - self.began

    @property
    def _endpoint(self) -> Any:
        parts = urlsplit(self.request.url)
        return endpoint_of(parts, 443 if parts.scheme == "https" else 80)

    async def _hold_the_reins(self) -> None:
        context = self.page.context
        context.on("page", self._close_popup)
        await context.route("**/*", self._judge)
        self.session: CDPSession = await context.new_cdp_session(self.page)
        tree = await self.session.send("Page.getFrameTree")
        self.main_frame_id: str = tree["frameTree"]["frame"]["id"]
        self.session.on("Fetch.requestPaused", self._in_background(self._take_answer))
        await self.session.send("Fetch.enable", {"patterns": [DOCUMENTS]})

    def _in_background(self, handler: Callable[[Any], Awaitable[None]]) -> Callable[[Any], None]:
        async def handled(event: Any) -> None:
            with suppress(Error):  # the page is gone meanwhile
                await handler(event)

        def begin(event: Any) -> None:
            task = asyncio.ensure_future(handled(event))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

        return begin

    def _close_popup(self, popup: Page) -> None:
        if popup != self.page:
            self._in_background(Page.close)(popup)

    # What the page asks for

    async def _judge(self, route: Route) -> None:
        request = route.request
        verdict = self._verdict(request)
        with suppress(Error):  # the page is gone meanwhile
            if verdict is Verdict.MADE:
                first = self.requests == 1 and self.request.headers
                await route.continue_(headers=request.headers | dict(self.request.headers) if first else None)
            else:
                await route.abort(verdict)

    def _verdict(self, request: BrowserRequest) -> Verdict:
        self.requests += 1
        if self.requests == 1:
            return Verdict.MADE
        if request.is_navigation_request() and (verdict := self._verdict_on_leaving(request)):
            return verdict
        if request.resource_type in self.limits.not_loaded or self.requests > self.limits.max_requests:
            return Verdict.REFUSED
        return Verdict.MADE if urlsplit(request.url).scheme in FETCHABLE else Verdict.REFUSED

    def _verdict_on_leaving(self, request: BrowserRequest) -> Verdict | None:
        """The page itself wants to go elsewhere, or a popup opens. A frame within may do as it likes."""
        try:
            frame = request.frame
        except Error:  # a popup without a page so far
            return Verdict.REFUSED
        if frame != self.page.main_frame:
            return None if frame.parent_frame else Verdict.REFUSED
        target = urldefrag(request.url)[0]
        if request.method == "GET" and target != self.request.url:
            self.moves_to = target
        self.parsed.set()  # Chromium has stopped parsing
        return Verdict.ABANDONED

    # What the server answers

    async def _take_answer(self, event: dict[str, Any]) -> None:
        paused = {"requestId": event["requestId"]}
        status = event.get("responseStatusCode")
        if event["frameId"] != self.main_frame_id or status is None or self.status:
            await self.session.send("Fetch.continueRequest", paused)
            return
        self.status, self.first_byte_seconds = status, self._seconds
        self.headers = [(header["name"], header["value"]) for header in event.get("responseHeaders", ())]
        self.finished_early = await self._without_rendering(paused)
        if self.finished_early:
            await self.session.send("Fetch.failRequest", paused | {"errorReason": "Aborted"})
        else:
            await self.session.send("Fetch.continueRequest", paused)

    async def _without_rendering(self, paused: dict[str, str]) -> Response | None:
        kind = answers.kind_of(self.status, self.headers)
        if kind is Kind.HEAD:
            return self._response(self.headers, b"", None)
        if not await self.ask(self.status, answers.header_block(self.status, self.headers)):
            return self._response(self.headers, b"", Truncation.UNWANTED)
        if kind is Kind.PAGE:
            return None
        body, truncated = await self._file(paused)
        return self._response(answers.without_transfer(self.headers), body, truncated)

    async def _file(self, paused: dict[str, str]) -> tuple[bytes, Truncation | None]:
        opened = await self.session.send("Fetch.takeResponseBodyAsStream", paused)
        handle = {"handle": opened["stream"]}
        body, at_end = bytearray(), False
        while not at_end and len(body) <= self.request.max_body_bytes:
            part = await self.session.send("IO.read", handle | {"size": READ_BYTES})
            body += b64decode(part["data"]) if part.get("base64Encoded") else part["data"].encode()
            at_end = part["eof"]
        await self.session.send("IO.close", handle)
        truncated = Truncation.LENGTH if len(body) > self.request.max_body_bytes or self.passage.is_exhausted else None
        return bytes(body[: self.request.max_body_bytes]), truncated

    # What became of it

    async def _rendered(self) -> Response:
        is_parsed = await self._settled()
        html, was_cut = await self._html()
        body = html.encode("utf-8", "replace")
        if len(body) > self.request.max_body_bytes:
            body, was_cut = body[: self.request.max_body_bytes].decode("utf-8", "ignore").encode(), True
        truncated = None if is_parsed else Truncation.INCOMPLETE
        if was_cut or self.passage.is_exhausted:
            truncated = Truncation.LENGTH
        return self._response(answers.as_page(self.headers, self.moves_to), body, truncated)

    async def _settled(self) -> bool:
        """Waits for quiet. True when the document was parsed to its end."""
        reserve = min(RESERVE_SECONDS, self.request.timeout_seconds * RESERVE_SHARE)
        until = self.began + self.request.timeout_seconds - reserve
        if not await self._in_time(self.parsed.wait(), until):
            return False
        await self._in_time(self.quiet.lasting(QUIET_SECONDS), min(until, monotonic() + self.limits.settle_seconds))
        return True

    async def _in_time(self, waiting: Coroutine[Any, Any, Any], until: float) -> bool:
        try:
            await asyncio.wait_for(waiting, until - monotonic())
        except TimeoutError:
            return False
        return True

    async def _html(self) -> tuple[str, bool]:
        world = await self.session.send("Page.createIsolatedWorld", {"frameId": self.main_frame_id})
        asked = {
            "expression": SERIALISE % self.request.max_body_bytes,
            "contextId": world["executionContextId"],
            "returnByValue": True,
        }
        answer = await self.session.send("Runtime.evaluate", asked)
        if "exceptionDetails" in answer:
            raise Error("the page is too large to be written down")
        return answer["result"]["value"]["html"], answer["result"]["value"]["cut"]

    def _response(self, headers: Headers, body: bytes, truncated: Truncation | None) -> Response:
        block = answers.header_block(self.status, headers)
        return Response(
            url=self.request.url,
            status=self.status,
            header_block=block,
            headers=parsed_headers(block),
            body=body,
            address=self.passage.addresses.get(self._endpoint, ""),
            seconds=self._seconds,
            truncated=truncated,
            first_byte_seconds=self.first_byte_seconds,
        )
