"""Fuzz link extraction: ``python tests/fuzz/fuzz_links.py -max_total_time=60`` (needs atheris).

If the first byte is odd, the rest is a page as it stands. Else every further byte picks a piece of markup, which gets
to the strange corners of the tree builder much sooner.
"""

import sys
from importlib import import_module

from selectolax.lexbor import LexborHTMLParser

from crawler.web import links, srcset
from crawler.web.links import PageLinks, scan
from crawler.web.links.findings import Findings
from crawler.web.links.resolving import Hrefs, base_url
from crawler.web.links.skimming import skim
from crawler.web.links.tree import can_be_built, walk

PAGE = "https://example.org/dir/page.html?q"
NAMES = (
    *(
        "a",
        "b",
        "i",
        "span",
        "font",
        "nobr",
        "code",
        "label",
        "div",
        "p",
        "h1",
        "h2",
        "ul",
        "li",
        "dl",
        "dt",
        "dd",
        "pre",
    ),
    *(
        "table",
        "tr",
        "td",
        "th",
        "tbody",
        "caption",
        "col",
        "colgroup",
        "select",
        "option",
        "svg",
        "g",
        "title",
        "math",
    ),
    *("template", "button", "object", "form", "script", "style", "textarea", "iframe", "noscript", "frameset", "frame"),
    *("ruby", "rt", "body", "html", "head", "x-y", "A", "DIV", "picture", "map", "details", "marquee", "plaintext"),
)
PIECES = (
    *(f"<{name}>" for name in NAMES),
    *(f"</{name}>" for name in NAMES),
    *(
        '<a href="x">',
        '<a href="y">',
        "<a href=z>",
        "<A HREF='x'>",
        '<a class="c" href="x">',
        '<a href="x" rel="nofollow">',
    ),
    *(
        '<a name="n">',
        '<a href="">',
        '<a href="#f">',
        '<a href="x',
        "<a ",
        'href="x"',
        "<img src=i alt=t>",
        "<br>",
        "<hr>",
    ),
    *("<img srcset='a 1x, b'>", "<img data-src=/l>", "<link rel=next href=n>", "<base href=/b/>", "<area href=x>"),
    *(
        "<meta name=robots content=nofollow>",
        '<meta http-equiv="refresh" content="0;url=r">',
        "<input>",
        "<source src=s>",
    ),
    *("<!--", "-->", "--!>", "<!-->", "<!x>", "<?x>", "</", "</>", "</ x>", "<", ">", "<<", "<![CDATA[", "]]>", "/>"),
    *('"', "'", "=", " ", "\n", "&", "&amp;", "&#120;", "&not", "text", "a < b", '<b title="<a href=x>">', "<b x='>'>"),
    *(
        '<b title="<!-- ">',
        '="',
        " x = y",
        "\0",
        "é",
        "<script><!--",
        "<svg><path/></svg>",
        "<select><option></select>",
    ),
    *("<table><tr><td>", "</td></tr></table>", "</td><td>", "<ul><li>", "</li></ul>", "<p></p>"),
)


def one(data: bytes) -> None:
    """Scanning says what the tree says or nothing, and whatever comes out is as promised."""
    if data[:1] and data[0] % 2:
        html = data[1:].decode("utf-8", "replace")
    else:
        html = "".join(PIECES[byte % len(PIECES)] for byte in data[1:])
    found = scan(html)
    if found is not None and can_be_built(html):
        assert _finished(found) == _finished(walk(LexborHTMLParser(html))), html
    odd = data.decode("utf-8", "surrogateescape")
    for page in (links.extract(html, PAGE), links.extract(data, PAGE), links.extract(odd, PAGE), _finished(skim(html))):
        _check(page)
    for candidate in srcset.parse(html):
        assert candidate.url
    links.parse_refresh(html)


def _finished(found: Findings) -> PageLinks:
    base = base_url(found.base_href, PAGE)
    return found.page_links(base, Hrefs(base, lambda: "utf-8"))


def _check(page: PageLinks) -> None:
    for url in (*(link.url for link in page.links), *(image.url for image in page.images), page.canonical, page.next):
        assert url is None or (url.startswith(("http://", "https://", "ftp://")) and "#" not in url), url
    assert len({(link.tag, link.url) for link in page.links}) == len(page.links)
    assert len({image.url for image in page.images}) == len(page.images)
    for link in page.links:
        link.text.encode()
        assert link.text == " ".join(link.text.split())
        assert link.nofollow == (page.meta_robots.nofollow or "nofollow" in link.rel)


if __name__ == "__main__":
    atheris = import_module("atheris")  # has no types and is no dependency
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
