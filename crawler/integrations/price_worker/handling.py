"""From a job to its answer: the page is fetched, read and judged."""

from __future__ import annotations

from crawler.engine.reading import body_of
from crawler.extract.price import PriceReading, read_price
from crawler.fetch.outcome import Response, Truncation
from crawler.integrations.client import Failure, GiveBack, Job, Result
from crawler.integrations.price_worker.pages import Pages
from crawler.integrations.price_worker.reasons import Stopped, Unfetched
from crawler.web.charset import decode


class PriceHandler:
    """What the SDK calls for every job, from many threads."""

    def __init__(self, pages: Pages, *, sends_html: bool = False) -> None:
        self.pages = pages
        self.sends_html = sends_html

    def __call__(self, job: Job) -> Result | Failure:
        try:
            answer = self.pages.get(job.url)
        except Unfetched as reason:
            return Failure(str(reason))
        except Stopped:
            raise GiveBack from None
        if answer.truncated is Truncation.INCOMPLETE and job.retry_count + 1 < job.max_retries:
            return Failure(f"the answer broke off after {len(answer.body):,} bytes")  # read only when it stays so
        return self._answer(answer)

    def _answer(self, answer: Response) -> Result | Failure:
        body = body_of(answer, self.pages.manners.max_body_bytes)
        if body.is_opaque:
            return Failure(f"cannot be read: {body.error}")
        html = decode(body.content, answer.headers.get("content-type")).text
        return self._result(read_price(html, answer.url), html)

    def _result(self, reading: PriceReading, html: str) -> Result | Failure:
        if reading.price is None:
            return Failure("no price found")
        if reading.currency is None:
            return Failure(f"a price without a currency found: {reading.price_formatted}")
        return Result(
            reading.price,
            reading.currency,
            reading.title,
            reading.in_stock is not False,  # a page that says nothing offers what it shows
            reading.parsed_data(),
            html.replace("\0", "\ufffd") if self.sends_html else None,
        )
