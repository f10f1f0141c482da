"""A bot with aiohttp: one process, a hundred pages at a time.

BOT_API_TOKEN=bot_… python examples/asyncio_bot.py [--once]
"""

import asyncio
import logging
import sys

import aiohttp

from crawler.extract.price import read_price
from crawler.integrations.client import Bot, Failure, Job, Result

HEADERS = {"User-Agent": "my-price-bot/1.0 (+https://example.com/bot)"}


async def main(until_idle: bool) -> None:
    async with aiohttp.ClientSession(headers=HEADERS, timeout=aiohttp.ClientTimeout(total=30)) as session:

        async def handle(job: Job) -> Result | Failure:
            async with session.get(job.url) as page:
                page.raise_for_status()
                body = await page.read()
            found = read_price(body, str(page.url), content_type=page.headers.get("Content-Type"))
            if found.price is None or found.currency is None:
                return Failure("the page names no price")
            in_stock = found.in_stock is not False
            return Result(found.price, found.currency, found.title, in_stock, found.parsed_data())

        print(await Bot().run_async(handle, workers=100, until_idle=until_idle))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main(until_idle="--once" in sys.argv))
