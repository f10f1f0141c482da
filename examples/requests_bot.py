"""A bot with requests: eight threads fetch pages and read their prices.

BOT_API_TOKEN=bot_… python examples/requests_bot.py [--once]
"""

import logging
import sys

import requests

from crawler.extract.price import read_price
from crawler.integrations.client import Bot, Failure, Job, Result

session = requests.Session()
session.headers["User-Agent"] = "my-price-bot/1.0 (+https://example.com/bot)"


def handle(job: Job) -> Result | Failure:
    page = session.get(job.url, timeout=30)
    page.raise_for_status()  # what is raised becomes a failure, and the job is tried again
    found = read_price(page.content, page.url, content_type=page.headers.get("Content-Type"))
    if found.price is None or found.currency is None:
        return Failure("the page names no price")
    return Result(
        price=found.price,
        currency=found.currency,
        title=found.title,
        in_stock=found.in_stock is not False,
        parsed_data=found.parsed_data(),
        raw_html=page.text,
    )


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    print(Bot().run(handle, workers=8, until_idle="--once" in sys.argv))
