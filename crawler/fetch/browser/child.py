"""The browser process: `python -m crawler.fetch.browser.child DESCRIPTOR FOLDER`. Not for people.

It serves one socket and ends when that closes: when its parent is done with it, or dead. With it end Playwright's
driver and all of Chromium, however stuck they are. Where Chromium takes more memory than it may, the greediest
renderer is killed, which fails its page, and the parent is told that this process is worn.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import sys
import traceback
from collections.abc import AsyncIterator
from typing import Any

from playwright.async_api import Browser, BrowserContext, Error, Playwright, async_playwright

from crawler.fetch.browser import chromium, system
from crawler.fetch.browser.gateway import Gateway, Passage
from crawler.fetch.browser.lifeline import Lifeline
from crawler.fetch.browser.messages import Message, Unpacker, packed, packed_outcome, request_of
from crawler.fetch.browser.options import Options, options_of
from crawler.fetch.browser.rendering import AskWanted, Rendering
from crawler.fetch.guard import Guard
from crawler.fetch.outcome import Failure, Request, Response

LOOK_AT_MEMORY_SECONDS = 0.5
LAUNCH_SECONDS = 60.0
# A browser that cannot open or close a page in this time is of no more use.
OPEN_SECONDS, CLOSE_SECONDS = 20.0, 5.0


class Child:
    def __init__(self, options: Options, writer: asyncio.StreamWriter, lifeline: Lifeline) -> None:
        self.options = options
        self.writer = writer
        self.lifeline = lifeline
        self.gateway = Gateway(Guard(map(ipaddress.ip_network, options.allowed_networks)))
        self.wanted: dict[int, asyncio.Future[bool]] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    def say(self, fields: dict[str, Any]) -> None:
        self.writer.write(packed(fields))

    async def launch(self, playwright: Playwright) -> None:
        await self.gateway.open()
        self.browser: Browser = await playwright.chromium.launch(
            executable_path=self.options.chromium_path,
            args=list(chromium.FLAGS),
            ignore_default_args=list(chromium.UNWANTED_DEFAULTS),
            chromium_sandbox=chromium.has_sandbox(),
            proxy={"server": self.gateway.url, "bypass": "<-loopback>"},
            timeout=LAUNCH_SECONDS * 1000,
        )
        self.browser.on("disconnected", lambda _: self.lifeline.end())
        ours = os.getsid(0)
        self.lifeline.sessions = {process.session for process in system.descendants(os.getpid())} - {ours}
        self.say({"ready": sorted(self.lifeline.sessions)})

    def take(self, message: Message) -> None:
        page = message.fields["page"]
        if "wanted" not in message.fields:
            task = asyncio.ensure_future(self._serve(page, request_of(message.fields), message.fields["asks"]))
            self.tasks.add(task)
            task.add_done_callback(self._done)
        elif (waiting := self.wanted.get(page)) and not waiting.done():
            waiting.set_result(message.fields["wanted"])

    def _done(self, task: asyncio.Task[None]) -> None:
        """A page whose outcome was not told is a mistake of ours: better none than one that never ends."""
        self.tasks.discard(task)
        if error := task.exception():
            traceback.print_exception(error)
            self.lifeline.end()

    async def watch(self) -> None:
        """The loop's own beat: while it goes on, the process is not stuck."""
        while True:
            self.lifeline.beat()
            self._look_at_memory()
            await asyncio.sleep(LOOK_AT_MEMORY_SECONDS)

    def _look_at_memory(self) -> None:
        bytes_by_pid = {found: system.memory_bytes(found.pid) for found in system.descendants(os.getpid())}
        total = sum(bytes_by_pid.values())
        if total <= self.options.memory_limit_bytes:
            return
        self.say({"worn": f"the browser takes {total >> 20} MiB"})
        renderers = [found for found in bytes_by_pid if system.is_renderer(found.pid)]
        if not renderers:
            self.lifeline.end()
        system.kill([max(renderers, key=bytes_by_pid.__getitem__)])

    async def _serve(self, page: int, request: Request, asks: bool) -> None:
        async def is_wanted(status: int, head: bytes) -> bool:
            if not asks:
                return True
            answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            self.wanted[page] = answer
            self.say({"page": page, "asks": {"status": status, "head": head.decode("latin-1")}})
            return await answer

        outcome = await self._rendered(request, is_wanted)
        self.wanted.pop(page, None)
        self.writer.write(packed_outcome(page, outcome))
        await self.writer.drain()

    async def _rendered(self, request: Request, is_wanted: AskWanted) -> Response | Failure:
        limits = self.options.limits
        passage = Passage(
            max_connections=limits.max_requests, max_bytes=limits.max_download_bytes, upstream=request.proxy
        )
        self.gateway.admit(passage)
        context = await self._in_time(self._opened(passage), OPEN_SECONDS)
        try:
            page = await self._in_time(context.new_page(), OPEN_SECONDS)
            return await self._outcome(Rendering(page, request, passage, limits, is_wanted))
        finally:
            self.gateway.dismiss(passage)
            await self._closed(context)

    async def _in_time(self, opening: Any, seconds: float) -> Any:
        try:
            return await asyncio.wait_for(opening, seconds)
        except (TimeoutError, Error):
            self.lifeline.end()

    async def _opened(self, passage: Passage) -> BrowserContext:
        return await self.browser.new_context(
            user_agent=self.options.user_agent,
            accept_downloads=False,
            service_workers="block",
            proxy={
                "server": self.gateway.url,
                "bypass": "<-loopback>",
                "username": passage.user,
                "password": passage.password,
            },
        )

    async def _outcome(self, rendering: Rendering) -> Response | Failure:
        work = asyncio.ensure_future(rendering.outcome())
        crash = asyncio.ensure_future(rendering.crash.wait())
        seconds = rendering.request.timeout_seconds
        await asyncio.wait({work, crash}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        work.cancel()
        crash.cancel()
        await asyncio.wait({work})
        error = None if work.cancelled() else work.exception()
        if rendering.crash.is_set():
            self.say({"worn": "a page crashed"})
            return rendering.crashed()
        if work.cancelled():
            return rendering.time_is_up()
        return rendering.failure(error) if error else work.result()

    async def _closed(self, context: BrowserContext) -> None:
        try:
            await asyncio.wait_for(context.close(), CLOSE_SECONDS)
        except (TimeoutError, Error):
            self.say({"worn": "a page could not be closed"})


async def messages(reader: asyncio.StreamReader) -> AsyncIterator[Message]:
    unpacker = Unpacker()
    while piece := await reader.read(1 << 16):
        for message in unpacker.feed(piece):
            yield message


async def serve(connection: socket.socket, lifeline: Lifeline) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    received = messages(reader)
    child = Child(options_of((await anext(received)).fields), writer, lifeline)
    watching = asyncio.ensure_future(child.watch())
    async with async_playwright() as playwright:
        try:
            await child.launch(playwright)
        except Error as error:
            child.say({"broken": f"Chromium does not start: {error.message}"})
            await writer.drain()
            return
        async for message in received:
            child.take(message)
    watching.cancel()


def main() -> None:
    connection = socket.socket(fileno=int(sys.argv[1]))
    lifeline = Lifeline(connection, folder=sys.argv[2])
    lifeline.start()
    try:
        asyncio.run(serve(connection, lifeline))
    finally:
        lifeline.end()


if __name__ == "__main__":
    main()
