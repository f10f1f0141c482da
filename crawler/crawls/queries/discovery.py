"""The way from a URL back to the seed it was found from."""

from __future__ import annotations

from crawler.crawls.models import FrontierURL
from crawler.crawls.schemas import Discovery

MOST_STEPS = 30


def discovered_through(row: FrontierURL) -> list[Discovery]:
    """The page it was found on first, a seed last; cut after MOST_STEPS, or where a page is not known any more."""
    steps: list[Discovery] = []
    met = {row.url_hash}
    found_on = row.discovered_from
    while found_on is not None and found_on not in met and len(steps) < MOST_STEPS:
        met.add(found_on)
        page = FrontierURL.objects.filter(url_hash=found_on, crawl_id=row.crawl_id).first()
        if page is None:
            break
        steps.append(
            Discovery(url=page.url, url_hash=page.url_hash, depth=page.depth, discovered_by=page.discovered_by)
        )
        found_on = page.discovered_from
    return steps
