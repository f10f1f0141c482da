"""What a glance finds new on a page: all that reading it finds new, or it says that the page has to be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.engine.glance import Glance
from crawler.engine.known import KnownUrls
from crawler.web import links

PAGE = "http://example.org/docs/page.html"
HEAD = "<html><head><title>t</title><link rel=stylesheet href=s.css></head><body>"


def known(*urls: str) -> KnownUrls:
    urls_known = KnownUrls()
    for number, url in enumerate((PAGE, *urls), 1):
        urls_known.remember(url, number)
    return urls_known


def read(html: str, known_urls: KnownUrls) -> set[tuple[str, bool]]:
    found = links.extract(html, PAGE).links
    return {(link.url, link.nofollow) for link in found if link.is_page and (known_urls.get(link.url) or 0) <= 0}


def glanced(html: str, known_urls: KnownUrls) -> set[tuple[str, bool]] | None:
    seen = Glance(images_count=True).at(html.encode(), PAGE, known_urls)
    new = seen.new if seen else ()
    return {(one.url, one.nofollow) for one in new if (known_urls.get(one.url) or 0) <= 0} if seen else None


def test_nothing_new() -> None:
    html = HEAD + '<a href="a.html">A</a> <a href="/b">B</a> <a href="#top">up</a> <a href="mailto:x@y">m</a>'
    seen = Glance(images_count=True).at(
        html.encode(), PAGE, known("http://example.org/docs/a.html", "http://example.org/b")
    )
    assert seen is not None
    assert (seen.new, seen.links) == ((), 4)


def test_the_new_ones_with_their_nofollow() -> None:
    html = HEAD + '<a href="a.html">A</a> <a rel="nofollow" href="new?x=1&amp;y=2#part">N</a> <a href="other">O</a>'
    found = glanced(html, known("http://example.org/docs/a.html"))
    assert found == {("http://example.org/docs/new?x=1&y=2", True), ("http://example.org/docs/other", False)}


def test_refused_for_a_worse_link_is_new() -> None:
    urls = known()
    urls.remember("http://example.org/docs/a.html", -7)
    assert glanced(HEAD + '<a href="a.html">A</a>', urls) == {("http://example.org/docs/a.html", False)}


@pytest.mark.parametrize(
    "odd",
    [
        "<a href='single'>x</a>",
        "<A HREF=bare>x</A>",
        '<a href = "spaced">x</a>',
        '<iframe src="frame"></iframe>',
        '<meta http-equiv="refresh" content="0;url=r">',
        '<img src="i.png">',
        '<textarea><a href="n">x</a></textarea>',
        '<template><a href="n">x</a></template>',
        '<!-- <a href="n">x</a> -->',
        '<!-- <a href="n">x</a> ',
        '<!--><a href="n">x</a>-->',
        '<script>"<a href="n">"</script>',
        '<svg><a href="n">x</a></svg>',
        '<link rel="next" href="n">',
        '<b href="n">x</b>',
    ],
)
def test_what_is_odd_is_read(odd: str) -> None:
    assert glanced(HEAD + odd, known()) is None


def test_the_same_words_mean_another_thing_in_another_folder() -> None:
    glance, urls = Glance(images_count=False), known("http://example.org/docs/a.html")
    html = (HEAD + '<a href="a.html">A</a>').encode()
    assert glance.at(html, PAGE, urls) is not None
    seen = glance.at(html, "http://example.org/other/page.html", urls)
    assert seen is not None
    assert [link.url for link in seen.new] == ["http://example.org/other/a.html"]


def test_a_query_alone_means_another_thing_on_another_page() -> None:
    glance, urls = Glance(images_count=False), known(f"{PAGE}?p=2")
    html = (HEAD + '<a href="?p=2">2</a>').encode()
    first, second = glance.at(html, PAGE, urls), glance.at(html, "http://example.org/docs/b.html", urls)
    assert first is not None
    assert second is not None
    assert (len(first.new), [link.url for link in second.new]) == (0, ["http://example.org/docs/b.html?p=2"])


PIECES = (
    '<a href="a">', '<a href="b" rel="nofollow">', '<a href="a#x">', '<a title=">" href="c">', "</a>", "<p>", "text",
    '"', "'", "<!--", "-->", "--!>", "<!-->", "<script>", "</script>", '<a href="d"', '<noscript><a href="e">',
    "</noscript>", '<a\thref="f">', 'href="g"', "<", ">", "<select>", '<b href="h">', '<area href="i">',
    '<A href="j">', '<a href="k"<a>', '<base href="n">', "&lt;", "<table>", "<td>", '<a href="?l">',
    '<link rel=next href="m">', "<img src=o>",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join), st.sets(st.sampled_from("abcdefgijk")))
def test_a_glance_misses_nothing(body: str, met: set[str]) -> None:
    urls = known(*(f"http://example.org/docs/{name}" for name in met))
    seen = glanced(HEAD + body, urls)
    wanted = {url for url, _ in read(HEAD + body, urls)}
    assert seen is None or wanted <= {url for url, _ in seen}
