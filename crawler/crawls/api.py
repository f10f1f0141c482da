"""`/api/v1`: why a URL was fetched or not, and the links between pages."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Field, Path, Router

from crawler.accounts.access import at_least
from crawler.accounts.roles import Role
from crawler.crawls.queries import links
from crawler.crawls.queries.explain import explain as explained
from crawler.crawls.queries.links import LinkPage
from crawler.crawls.schemas import InlinkPage, OutlinkPage, Story
from crawler.foundation.errors import NotFound

router = Router(tags=["crawls"])
viewers = at_least(Role.VIEWER)

UrlHash = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
Limit = Annotated[int, Field(ge=1, le=1000)]
Cursor = Annotated[int, Field(ge=0, lt=2**63)]


@router.get("/explain", response=Story, auth=viewers, summary="The whole story of a URL, in any spelling")
def explain(request: HttpRequest, url: Annotated[str, Field(min_length=1)]) -> Story:
    return explained(url)


@router.get(
    "/documents/{url_hash}/outlinks", response=OutlinkPage, auth=viewers, summary="What a page links to, in its order"
)
def outlinks(request: HttpRequest, url_hash: UrlHash, limit: Limit = 100, cursor: Cursor | None = None) -> object:
    page = links.outlinks_of(known(url_hash), limit=limit, after=-1 if cursor is None else cursor)
    return {"outlinks": page.links, "pagination": pagination(page, limit)}


@router.get("/documents/{url_hash}/inlinks", response=InlinkPage, auth=viewers, summary="Which pages link to a page")
def inlinks(request: HttpRequest, url_hash: UrlHash, limit: Limit = 100, cursor: Cursor | None = None) -> object:
    page = links.inlinks_of(known(url_hash), limit=limit, after=-1 if cursor is None else cursor)
    return {"inlinks": page.links, "pagination": pagination(page, limit)}


def known(url_hash: str) -> str:
    if not links.is_known(url_hash):
        raise NotFound("No crawl knows this URL", field="url_hash", reason=url_hash)
    return url_hash


def pagination(page: LinkPage, limit: int) -> dict[str, object]:
    return {"limit": limit, "next_cursor": None if page.next_cursor is None else str(page.next_cursor)}
