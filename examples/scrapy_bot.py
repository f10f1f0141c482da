"""A bot inside Scrapy, which has a loop of its own: the spider uses the client's verbs.

BOT_API_TOKEN=bot_… python examples/scrapy_bot.py [--once]
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from crawler.extract.price import read_price
from crawler.integrations.client import Bot, BotError, Failure, Job, Refused, Result

MOST_HELD = 100
HEARTBEAT_SECONDS = 20


class PriceSpider(scrapy.Spider):
    name = "prices"
    custom_settings = {"USER_AGENT": "my-price-bot/1.0 (+https://example.com/bot)", "LOG_LEVEL": "INFO"}
    once = False

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.bot = Bot()
        self.held: dict[str, Job] = {}
        self.threads = ThreadPoolExecutor(4)  # the client's calls wait for the server, Scrapy must not

    async def start(self) -> AsyncIterator[Any]:
        self.beating = asyncio.create_task(self.keep_locks())
        while True:
            jobs = await self.in_thread(self.pull_some) if len(self.held) < MOST_HELD else []
            for job in jobs:
                yield scrapy.Request(
                    job.url,
                    self.parse,
                    errback=self.failed,
                    cb_kwargs={"job": job},
                    meta={"job": job},
                    dont_filter=True,
                )
            if self.once and not self.held:
                return
            if not jobs:
                await asyncio.sleep(0.2)

    async def parse(self, response: Response, job: Job) -> None:
        found = read_price(response.body, response.url)
        if found.price is None or found.currency is None:
            await self.in_thread(self.answer, job, Failure("the page names no price"))
        else:
            result = Result(found.price, found.currency, found.title, found.in_stock is not False, found.parsed_data())
            await self.in_thread(self.answer, job, result)

    async def failed(self, trouble: Any) -> None:
        await self.in_thread(self.answer, trouble.request.meta["job"], Failure(trouble.getErrorMessage()))

    def closed(self, reason: str) -> None:
        """What was not answered is given back, also what a last pull has brought."""
        self.beating.cancel()
        self.threads.shutdown()
        self.bot.release(list(self.held.values()))
        self.bot.close()

    # In threads

    def pull_some(self) -> list[Job]:
        jobs = self.bot.pull(max_jobs=20, wait_seconds=0 if self.held or self.once else 2)
        self.held |= {job.job_id: job for job in jobs}
        return jobs

    def answer(self, job: Job, answer: Result | Failure) -> None:
        try:
            self.bot.submit(job, answer)
        except Refused as refused:
            self.logger.warning("%s: %s", job.url, refused)
        finally:
            self.held.pop(job.job_id, None)

    def beat(self) -> None:
        try:
            self.bot.heartbeat(list(self.held.values()))
        except BotError as error:
            self.logger.warning("no heartbeat: %s", error)

    async def keep_locks(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await self.in_thread(self.beat)

    async def in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.threads, work, *arguments)


if __name__ == "__main__":
    process = CrawlerProcess()
    process.crawl(PriceSpider, once="--once" in sys.argv)
    process.start()
