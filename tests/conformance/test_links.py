"""Links, base URLs, meta refresh, robots meta tags and srcset against the cases of WPT and other crawlers' suites.

Extractors differ in what they look at, so a row of links is held against the part of our answer that it speaks of:

- Our URLs have no fragment, so the row's lose theirs. Images are links to Nutch and Heritrix, and images to us.
- Rows that need a setting we do not have (``NOT_OURS``) are left out: filters by place, text or file name are the
  crawl's business, and comments are comments.
"""

import base64
import gzip
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.web import links, srcset
from crawler.web.headers import x_robots_tag
from crawler.web.links import PageLinks
from tests.conformance import vectors

NOT_OURS = (
    *("restrict_xpaths", "restrict_css", "restrict_text", "deny_extensions", "process", "unique", "canonicalize"),
    *("conditional_comments", "meta_content"),
)
LINKS = [
    row
    for row in vectors.rows("links.jsonl")
    if "css" not in row and not any(row.get("options", {}).get(name) is not None for name in NOT_OURS)
]
BASES = vectors.rows("base_href.jsonl")
REFRESHES = vectors.rows("meta_refresh.jsonl")
ROBOTS = vectors.rows("robots_meta.jsonl")
SETS = vectors.rows("srcset.jsonl")
DEVIATIONS = vectors.deviations("links")


def by_row(row: dict[str, Any]) -> str:
    return str(row["_row"])


def page(row: dict[str, Any], url_key: str) -> PageLinks:
    html = base64.b64decode(row["html_b64"]) if row.get("html_b64") else row.get("html") or ""
    encoding = row.get("encoding") if isinstance(html, bytes) else None
    return links.extract(html, row[url_key] or "", charset=encoding)


def expect(file: str, row: dict[str, Any], holds: bool, found: object) -> None:
    """A row holds, unless it is listed as a deviation; then it must not."""
    reason = DEVIATIONS.get((file, row["_row"]))
    if reason is None:
        assert holds, found
    else:
        assert not holds, f"row {row['_row']} agrees with us: take it off the list ({reason})"


def followed(row: dict[str, Any], found: PageLinks) -> list[str]:
    """The URLs of the elements that this row looks at."""
    options = row.get("options", {})
    tags = options.get("tags", ["a", "area"]) or []
    if not row["source"].startswith("scrapy"):
        tags = ["a", "area", "link", "iframe", "frame", "refresh", "source"]
    looked_at = [link for link in found.links if link.tag in ([tags] if isinstance(tags, str) else tags)]
    return [link.url for link in looked_at if not (options.get("obey_nofollow") and link.nofollow)]


def is_in_order(some: list[str], all_of_them: list[str]) -> bool:
    rest = iter(all_of_them)
    return all(url in rest for url in some)


@pytest.mark.parametrize("row", LINKS, ids=by_row)
def test_links(row: dict[str, Any]) -> None:
    found = page(row, "base_url")
    urls, images = followed(row, found), [image.url for image in found.images]
    expected = [url.partition("#")[0] for url in row["links"]]
    is_complete = set(expected) <= {*urls, *images}
    ordered = row["match"] != "ordered" or is_in_order([url for url in expected if url not in images], urls)
    is_exact = not row["source"].startswith("scrapy") or expected == urls
    excluded = set(row.get("excludes", ())).isdisjoint((*urls, *images))
    expect("links.jsonl", row, is_complete and ordered and is_exact and excluded, found)


@pytest.mark.parametrize("row", [row for row in LINKS if row.get("link_details")], ids=by_row)
def test_texts_of_links(row: dict[str, Any]) -> None:
    texts = {link.url: link.text for link in page(row, "base_url").links}
    for expected in row["link_details"]:
        url = expected["url"].partition("#")[0]
        if url in texts:
            assert texts[url] == expected["text"].strip()


@pytest.mark.parametrize("row", BASES, ids=by_row)
def test_base(row: dict[str, Any]) -> None:
    found = page(row, "document_url").base
    expect("base_href.jsonl", row, found == row["base_url"], found)


@pytest.mark.parametrize("row", [row for row in REFRESHES if "content" in row], ids=by_row)
def test_refresh_as_browsers_parse_it(row: dict[str, Any]) -> None:
    found = links.parse_refresh(row["content"])
    expected = (row["delay"], row["url"]) if row["refresh"] else None
    assert (found and tuple(found)) == expected


ON_PAGES = [row for row in REFRESHES if "content" not in row and row.get("ignore_tags") != []]  # scripts are ignored


@pytest.mark.parametrize("row", ON_PAGES, ids=by_row)
def test_refresh_on_pages(row: dict[str, Any]) -> None:
    found = [link.url for link in page(row, "base_url").links if link.tag == "refresh"]
    expect("meta_refresh.jsonl", row, found == ([row["url"]] if row["refresh"] else []), found)


@pytest.mark.parametrize("row", ROBOTS, ids=by_row)
def test_robots_directives(row: dict[str, Any]) -> None:
    found = links.extract(row["html"] or "", "http://example.org/")
    told = found.meta_robots | x_robots_tag([value for name, value in row["headers"]])
    expected = {name: row[name] for name in ("noindex", "nofollow", "nocache") if name in row}
    assert {name: getattr(told, name) for name in expected} == expected
    if row.get("links") == []:
        assert all(link.nofollow for link in found.links)


@pytest.mark.parametrize("row", SETS, ids=by_row)
def test_srcset(row: dict[str, Any]) -> None:
    found = [
        # The recorded parser leaves out a density of zero.
        {"url": one.url} | {k: v for k, v in {"w": one.width, "h": one.height, "d": one.density}.items() if v}
        for one in srcset.parse(row["srcset"])
    ]
    assert found == row["candidates"]


REAL_PAGES = sorted(path for path in (vectors.folder() or Path()).parent.glob("price/pages/*.html.gz"))


@pytest.mark.parametrize("path", REAL_PAGES[::4], ids=lambda path: path.name.removesuffix(".html.gz"))
def test_real_pages_read_the_same_without_their_tree(path: Path) -> None:
    """What is too big for a tree on its own is read without one; then texts may differ, but no target."""
    html = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    url = "https://example.org/dir/page.html"
    found, expected = links.extract(html, url), links.from_tree(LexborHTMLParser(html), url)
    if links.can_be_built(html) or links.scan(html) is not None:
        assert found == expected
    assert [link.url for link in found.links] == [link.url for link in expected.links]
    assert [image.url for image in found.images] == [image.url for image in expected.images]
