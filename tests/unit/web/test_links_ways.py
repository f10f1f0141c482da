"""The three ways to read a page: they must agree, be taken when they should, and stay bounded on hostile pages.

Where Python is too old to scan, ``extract`` must say the same by the other two.
"""

import gc
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.web import links
from crawler.web.links import CAN_SCAN, PageLinks, scan
from crawler.web.links.findings import Findings
from crawler.web.links.references import in_attribute, in_text
from crawler.web.links.resolving import Hrefs, base_url
from crawler.web.links.skimming import skim
from crawler.web.links.tree import can_be_built, walk

PAGE = "https://example.org/dir/page.html"


def finished(found: Findings) -> PageLinks:
    base = base_url(found.base_href, PAGE)
    return found.page_links(base, Hrefs(base, lambda: "utf-8"))


def by_tree(html: str) -> PageLinks:
    return finished(walk(LexborHTMLParser(html)))


SURE = [
    '<a href="x">plain</a><a class="c" href="y" id="z"><b>in <i>line</i></b></a>',
    "<A HREF=x>old</A><a  href = 'y' >spaced</a>",
    "<div><a href=x><div><h2>Title</h2><ul><li>One</li></ul></div></a></div>",
    "<p>closed</p><a href=x><p>Text</p></a>",
    "<table><tr><td><a href=x>x</a></td>\n<td>y</td></tr></table>",
    "<select><option value=1>One<option>Two</select><a href=x>x</a>",
    "<a href=x><svg viewBox='0'><path d='M'/></svg>Icon</a><svg><g><title>t</title></g></svg>",
    "<a href=x>x</a><a href=x>never closed<div>",
    "<script>if (a < b) '</div>'</script><a href=x>x<script>1</script></a>",
    "a < b <a href=x>5 < 6 << 7</a>",
]
UNSURE = [
    "<a href=x>open <p>one</p>",
    "<p><a href=x>one<div>two</div></a>",
    "<p><button><p></p></button><a href=x>one<div>two</div></a>",
    "<a href=x><b>crossed</a></b>",
    "<b><a href=x>one</b>two</a>",
    "<ul><li><a href=x>one<li>two</a></ul>",
    "<table><tr><a href=x>moved</a><td></table>",
    "<select><a href=x>dropped</a></select>",
    "<template><a href=x>hidden</a></template>",
    "<frameset><a href=x>dropped</a></frameset>",
    "<svg><style><a href=x>not raw</a></style></svg>",
    "<script><!--<script></script>--></script><a href=x>x</a>",
    "<a href=x>nul\0</a>",
    "<a href=x>x</a><!-- never closed",
]


@pytest.mark.parametrize("html", SURE)
def test_simple_pages_need_no_tree(html: str) -> None:
    assert (scan(html) is not None) == CAN_SCAN
    assert links.extract(html, PAGE) == by_tree(html)


@pytest.mark.parametrize("html", UNSURE)
def test_other_pages_do(html: str) -> None:
    assert scan(html) is None
    assert links.extract(html, PAGE) == by_tree(html)


def test_a_tree_that_is_there_already_gives_the_same() -> None:
    html = "<meta name=robots content=nofollow><a href=x>x</a><img src=y>"
    assert links.from_tree(LexborHTMLParser(html), PAGE) == links.extract(html, PAGE)


TAGS = (
    "a a a a b i span div p h2 ul li table tr td caption select option svg path button object form br img nobr".split()
)
HREFS = ("x", "y", "z", "#f", "", "?k&amp;l", "../u", "a&b", "mailto:m", " x\n")
ATTRIBUTES = (
    *('class="c"', "class=c", "id='i'", "hidden", 'title="<a href=t>"', "title='>'", 'title="<!-- "', "rel=nofollow"),
    *('rel="next"', "src=s.png", "srcset='s 1x, t 2x'", "alt=al", 'x = "y"', '="', "a'b", "href=dup", "/", "\n"),
)
TEXTS = (
    *("text", " ", "&amp;", "<", "<<", "< b>", "</>", "</ b>", "<!x>", "<?x?>", "<!-- <a href=c> -->", "<!-->", "--!>"),
    *("<script>'<a href=s>'</script>", "<style>a>b</style>", "<title><a></title>", "<![CDATA[", "]]>", "\0", '"', "="),
    *(
        "<table><tr><td>",
        "</td></tr></table>",
        "</td><td>",
        "<p>",
        "</p>",
        "</a>",
        '<a href="x">',
        "<iframe src=f></iframe>",
    ),
    *("<svg><g/></svg>", "<select><option>o</select>", "<template>", "</template>", "<noscript>", "<base href=/b/>"),
)
starts = st.builds(
    lambda name, attributes: f"<{name}{''.join(f' {one}' for one in attributes)}>",
    st.sampled_from(TAGS),
    st.lists(st.one_of(st.sampled_from(ATTRIBUTES), st.sampled_from(HREFS).map('href="{}"'.format)), max_size=3),
)
ends = st.sampled_from(TAGS).map("</{}>".format)
pages = st.lists(st.one_of(starts, starts, ends, st.sampled_from(TEXTS)), max_size=25).map("".join)


@given(pages)
@settings(max_examples=400, deadline=None)
@example("<s <a href></a><")
@example('<a href="></a>')
@example("<a href><b<!></a>")
@example("<a href=x>s</a><a rel=next href=x>")
@example("<a href=x><svg><style/></svg>text<style></style></a>")
@example("<a href=x><svg/><p>text</p></a>")
@example("<a href=x><!--><p>a</p><!--->b<!-- --!>c<? p>d</ >e</a>")
def test_extract_says_what_the_tree_says(html: str) -> None:
    assert links.extract(html, PAGE) == by_tree(html)


@given(st.one_of(pages, st.text(max_size=50), st.binary(max_size=50)))
@settings(max_examples=200, deadline=None)
def test_nothing_raises(html: str | bytes) -> None:
    links.extract(html, PAGE)
    if isinstance(html, str):
        finished(skim(html))


@given(
    st.lists(st.sampled_from(["&", "#", "x", "X", ";", "=", "1", "38", "9f", "amp", "not", "notin", "copy", "lt", "é"]))
)
@settings(max_examples=300, deadline=None)
def test_character_references_are_those_of_the_parser(pieces: list[str]) -> None:
    written = "".join(pieces)
    node = LexborHTMLParser(f'<p title="{written}">.{written}</p>').css_first("p")
    assert node is not None
    assert (in_attribute(written), f".{in_text(written)}") == (node.attributes["title"] or "", node.text())


paths = st.text(alphabet="ab./-_~%2eE:?#&\\ ", max_size=12)
bases = st.builds("http{}://h{}/{}".format, st.sampled_from(["", "s"]), st.sampled_from(["", ":80", ".x"]), paths)


@given(bases, st.one_of(paths, paths.map("../".__add__), paths.map("http://h/".__add__)))
@settings(max_examples=500, deadline=None)
@example("https://h/a/b", "https:?q")
def test_hrefs_are_resolved_as_ada_does_and_remembered_right(base: str, href: str) -> None:
    try:
        expected = ada_url.join_url(base, href).partition("#")[0]
    except ValueError:
        expected = ""
    expected = expected if expected.startswith("http") else ""
    hrefs = Hrefs(base, lambda: "utf-8")
    assert [hrefs.url(href), *hrefs.urls([href])] == [expected, expected]


DEEP = 100_000
HOSTILE = {
    "deep blocks": "<div>" * DEEP,
    "deep lists": "<ul><li>" * DEEP,
    "deep links": "<a href=x><div>" * DEEP,
    "a deep link": "<a href=x>" + "<div>" * DEEP + "</div>" * DEEP + "</a>",
    "deep content": "<a href=x>" + "<span>" * DEEP,
    "open formatting": "<p>" + "".join(f"<font a{i}>" for i in range(1_000)) + "</p>" + "<p>x</p>" * 1_000,
    "attributes": "<a " + " ".join(f"a{i}=1" for i in range(DEEP)) + ">",
    "attributes of the root": "<html " + "><html ".join(f"a{i}=1" for i in range(DEEP)) + ">",
    "nested links": "".join(f"<a href={i}><table><tr><td>" for i in range(2_000)),
    "templates": "<template>" * DEEP,
    "open scripts": "<script></script x='" * DEEP,
    "open comments": "<!--" * DEEP,
    "open quotes": '<a href="' * DEEP,
    "drawings": "<svg><!--" * DEEP,
    "nuls": "\0" * DEEP,
    "references": "<a href='" + "&" * DEEP + "&#" * DEEP + "&#x" * DEEP + "'>" + "&notit" * DEEP,
    "images": "<img srcset='" + "a," * DEEP + "'>",
    "links": "".join(f"<a href={i}>{i}</a>" for i in range(DEEP)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_little_time(name: str) -> None:
    html = HOSTILE[name] + "<select><a href=last>last</a>"  # the <select> keeps it from being scanned
    started = time.perf_counter()
    found = links.extract(html, PAGE)
    assert time.perf_counter() - started < 5
    assert len(found.links) <= links.MAX_LINKS and len(found.images) <= links.MAX_IMAGES


def test_trees_that_cannot_be_built_are_recognised() -> None:
    assert not can_be_built(HOSTILE["deep blocks"])
    assert not can_be_built(HOSTILE["open formatting"])
    assert not can_be_built(HOSTILE["attributes"])
    assert not can_be_built(HOSTILE["attributes of the root"])
    assert can_be_built("<ul>" + "<li><b>x</b><p>y" * 20_000)


def test_a_hundred_megabytes_on_one_line_are_read_in_part() -> None:
    page = b'<a href="first">x</a>' + b"<b>x</b>" * (100_000_000 // 8)
    started = time.perf_counter()
    assert [link.url for link in links.extract(page, PAGE).links] == ["https://example.org/dir/first"]
    assert time.perf_counter() - started < 5
    del page
    gc.collect()


def test_the_grammar_of_the_scanner_is_loaded_only_where_it_works() -> None:
    script = "import sys, crawler.web.links; print('crawler.web.links.grammar' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(CAN_SCAN) == str(sys.version_info >= (3, 11, 5))


LONG = 300_000
NEVER_ENDING = {
    "less-than": "<" * LONG,
    "start tags": "<a " * LONG,
    "start tags before an open quote": "<a " * LONG + '="',
    "an open quote": "<b title='" + '<a "' * LONG,
    "a comment": "<!--" + "a - b --" * LONG,
    "a script": "<script>" + "<!--<script></scrip" * LONG,
    "a title": "<title>" + "</titl" * LONG,
    "declarations": "<!" * LONG,
}


@pytest.mark.parametrize("name", NEVER_ENDING)
@pytest.mark.parametrize("way", [links.extract, lambda html, url: skim(html), lambda html, url: links.head_of(html)])
def test_what_never_ends_is_read_once(name: str, way: Callable[[str, str], object]) -> None:
    html = "<title>x</title>" + NEVER_ENDING[name]
    started = time.perf_counter()
    way(html, PAGE)
    assert time.perf_counter() - started < 5


GREEDY = {
    "attributes": "<p><a href=x " + "a " * 200_000 + "><img " + "b='' " * 60_000 + "></a>",
    "tags in a link": "<a href=x>" + "<p>x</p>" * 100_000 + "</a>",
    "references in a link": "<a href=x>" + "&am" * 500_000 + "</a>",
    "links on a long base": f"<base href='/{'a' * 60_000}/'>"
    + "".join(f"<a href={i}><img src={i}>" for i in range(20_000)),
    "links on a base that is too long": f"<base href='/{'a' * 100_000}/'>"
    + "<a href=?x>".join(map(str, range(20_000))),
}


@pytest.mark.parametrize("name", GREEDY)
def test_memory_is_bounded_by_the_page(name: str) -> None:
    html = GREEDY[name]
    tracemalloc.start()
    links.extract(html, PAGE)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 12 * len(html) + (70_000_000 if "base" in name else 0)
