"""Metadata of pages: every source, the order of sources, and bad input."""

import json
import time
from dataclasses import fields
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.extract.metadata import LONGEST_TITLE, Metadata, extract, from_tree

URL = "https://example.org/news/page.html"
DAY = datetime(2020, 1, 2, tzinfo=UTC)


def of(html: str) -> Metadata:
    return extract(html, URL)


def json_ld(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def test_a_page_that_says_everything() -> None:
    page = """<!doctype html><html lang="en-GB"><head>
    <title> A page
      of news </title>
    <meta name="Description" content=" What is  new ">
    <meta name="keywords" content="news, pages,, news">
    <meta name="author" content="Ann Author">
    <link rel="stylesheet canonical" href="/news/page#top">
    <meta property="og:title" content="Open title"><meta property="og:site_name" content="The News">
    <meta property="og:image" content="a.png"><meta property="og:image" content="b.png">
    <meta property="article:published_time" content="2020-01-02T01:00:00+01:00">
    <meta property="article:modified_time" content="2020-01-03">
    """
    assert of(page) == Metadata(
        title="A page of news",
        description="What is new",
        language="en-GB",
        canonical="https://example.org/news/page",
        published_time=DAY,
        modified_time=datetime(2020, 1, 3, tzinfo=UTC),
        author="Ann Author",
        site_name="The News",
        keywords=("news", "pages"),
        open_graph={
            "og:title": "Open title",
            "og:site_name": "The News",
            "og:image": ["a.png", "b.png"],
            "article:published_time": "2020-01-02T01:00:00+01:00",
            "article:modified_time": "2020-01-03",
        },
    )


@pytest.mark.parametrize("html", ["", "text", "<html><head></head><body><p>Nothing", "\x00", "<title></title>"])
def test_a_page_that_says_nothing(html: str) -> None:
    assert of(html) == Metadata()


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>One</title><title>Two</title>", "One"),
        ("<body><svg><g><title>Drawing</title></g></svg>", None),
        ("<svg><title>Drawing</title></svg><title>Late</title>", "Late"),
        ("<meta property=og:title content=Open><meta name=twitter:title content=Bird>", "Open"),
        ("<meta name='og:title' content='By name'>", "By name"),
        (json_ld({"@type": "Article", "headline": "Structured"}), "Structured"),
        ("<title>&lt;b&gt; &amp; c</title>", "<b> & c"),
    ],
)
def test_titles(html: str, title: str | None) -> None:
    assert of(html).title == title


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de>", "de"),
        ("<html lang='' xml:lang='pt_BR'>", "pt-BR"),
        ("<html lang='not a language'><meta http-equiv=Content-Language content='fr, en'>", "fr"),
        ("<meta property=og:locale content=en_US>", "en-US"),
        (json_ld({"@type": "WebPage", "inLanguage": "ja"}), "ja"),
    ],
)
def test_languages(html: str, language: str) -> None:
    assert of(html).language == language


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("<link rel=canonical href='other'>", "https://example.org/news/other"),
        ("<base href='/deep/er/'><link rel=CANONICAL href='other'>", "https://example.org/deep/er/other"),
        ("<base href='javascript:x'><link rel=canonical href='//e.net'>", "https://e.net/"),
        ("<link rel=canonical><link rel=canonical href='https://e.net/x'>", "https://e.net/x"),
        ("<link rel=canonical href='mailto:a@e.net'>", None),
        ("<link rel=alternate href=x>", None),
    ],
)
def test_canonical(html: str, canonical: str | None) -> None:
    assert of(html).canonical == canonical


@pytest.mark.parametrize(
    "html",
    [
        "<meta property=article:published_time content=2020-01-02>",
        json_ld({"@type": "NewsArticle", "datePublished": "2020-01-02"}),
        json_ld({"@graph": [{"@type": "WebSite"}, {"@type": ["WebPage"], "datePublished": "2020-01-02"}]}),
        json_ld([{"@type": "WebPage", "mainEntity": {"@type": "Article", "datePublished": "2020-01-02T00:00Z"}}]),
        json_ld(
            [{"@type": "WebPage", "datePublished": "1999"}, {"@type": "BlogPosting", "datePublished": "2020-01-02"}]
        ),
        '<script type="application/ld+json">{"@type": "Article", "datePublished": "2020-01-02",}</script>',
        '<script type="application/ld+json"><!-- {"datePublished": "2020-01-02"} --></script>',
        '<script type="application/ld+json">{"text": "un"quoted", "datePublished": "2020-01-02"}</script>',
        "<meta itemprop=datePublished content='Thu, 02 Jan 2020 00:00:00 GMT'>",
        "<meta name=DC.date.issued content=2020-01-02>",
        "<meta name=dcterms.created content=2020-01-02>",
        "<time datetime=1999 itemprop=dateModified></time><time>no</time><time datetime=2020-01-02>",
        "<time datetime=1999></time><time pubdate datetime=2020-01-02>",
        "<meta property=article:published_time content=0001-01-01><meta name=date content=2020-01-02>",
    ],
)
def test_published(html: str) -> None:
    assert of(html).published_time == DAY


@pytest.mark.parametrize(
    "html",
    [
        "<meta property=og:updated_time content=2020-01-02T00:00:00Z>",
        json_ld({"@type": "Article", "dateModified": "2020-01-02"}),
        "<meta http-equiv=Last-Modified content='Thu, 02 Jan 2020 00:00:00 GMT'>",
        "<meta name=dcterms.modified content=2020-01-02>",
        "<time itemprop=dateModified datetime=2020-01-02>",
    ],
)
def test_modified(html: str) -> None:
    found = extract(html, URL, last_modified="Fri, 03 Jan 2020 00:00:00 GMT")
    assert found.modified_time == DAY
    assert found.published_time is None


def test_last_modified_is_the_last_word() -> None:
    assert extract("", URL, last_modified="Thu, 02 Jan 2020 00:00:00 GMT").modified_time == DAY
    assert extract("", URL, last_modified=DAY).modified_time == DAY
    assert extract("", URL, last_modified="nonsense").modified_time is None


def test_dates_of_comments_are_not_the_page_s() -> None:
    page = {"@type": "Article", "comment": [{"@type": "Comment", "datePublished": "2020-01-02"}]}
    assert of(json_ld(page)).published_time is None
    assert of(json_ld([{"@type": "Review", "datePublished": "2020-01-02"}])).published_time is None


def test_authors_and_publishers_may_be_objects_or_lists() -> None:
    page = {"@type": "Article", "author": [{"name": " "}, {"name": "Ann"}], "publisher": {"name": "The News"}}
    found = of(json_ld(page))
    assert (found.author, found.site_name) == ("Ann", "The News")


def test_bytes_are_decoded_as_the_header_or_the_page_says() -> None:
    page = "<title>Čeština</title>".encode("iso8859-2")
    assert extract(page, URL, charset="latin2").title == "Čeština"
    assert extract(b"<meta charset=iso-8859-2>" + page, URL).title == "Čeština"


def test_a_parsed_page_gives_the_same() -> None:
    page = "<title>T</title><meta name=description content=D>"
    assert from_tree(LexborHTMLParser(page), URL) == of(page)


TRICKY = (
    "<title>a<b></title>", "<TITLE\n>x</tItLe >", "<!-- <title>no</title> -->", "<!--><title>yes</title>-->", "<svg/>",
    "<svg><title>d</title></svg>", "<script>'<title>no</title>'</script>",
    "<style><meta name=author content=no></style>",
    "<textarea><title>no</title></textarea>", "<meta name=author content=it's>", "<meta name=author content='a>b'>",
    '<meta name=author content="a\'b>c">', "<metal name=author content=no>", "<link rel=canonical href=/c>", "<p>",
    "<html lang=fr>", "<base href=/b/>", "<time datetime=2020-01-02>x</time>", "<iframe><title>no</title></iframe>",
    "</title>", "<meta name = description  content = spaced />",
    '<script type="application/ld+json">{"headline":"h"}</script>',
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(TRICKY)).map("".join))
def test_the_short_way_finds_what_the_whole_tree_has(html: str) -> None:
    assert of(html) == from_tree(LexborHTMLParser(html), URL)


def test_texts_are_bounded() -> None:
    found = of(
        f"<title>{'t' * 9999}</title><meta name=description content='{'d ' * 9999}'>" + "<meta name=a content=b>" * 999
    )
    assert len(found.title or "") == LONGEST_TITLE
    assert len(found.description or "") <= 5000
    many = of("".join(f"<meta property=og:image content={n}>" for n in range(999)))
    assert len(many.open_graph["og:image"]) == 50


def test_texts_can_be_stored() -> None:
    found = of(json_ld({"@type": "Article", "headline": "a\x00b\ud800c"}))
    assert found.title == "abc"
    assert extract("<title>a\ud800b</title>", "no url").title == "ab"


@pytest.mark.parametrize(
    "html",
    [
        "<script type='application/ld+json'>" + "[" * 200_000,
        "<script type='application/ld+json'>" + '{"@graph":' * 5_000 + "1" + "}" * 5_000,
        "<script type='application/ld+json'>[" + "9" * 10_000 + "]",
        "<script type='application/ld+json'>[" + ", " * 100_000,
        json_ld({"@graph": [{"@graph": [{}] * 1000}] * 1000}),
        json_ld({"datePublished": {"a": [1]}, "author": [None, 3], "@type": 7, "headline": ["x" * 10**6]}),
        "<meta name=description content='" + "x " * 5_000_000 + "'>",
        "<meta name=a content=b>" * 100_000,
        "<time datetime=x>" * 100_000,
        "<title>" * 100_000,
        "<div>" * 100_000,
        "<div>" * 100_000 + "</div>" * 100_000 + "<title>x",
        "<p " + " ".join(f"a{n}" for n in range(100_000)) + ">",
        "x" * 100_000_000,
        "<meta =a" * 1_000_000,
        "<meta a='\"" * 1_000_000,
        "<script>" + "<" * 8_000_000,
        "<script></script>" * 400_000,
        "<!--" * 1_000_000,
        "<svg/>" * 1_000_000,
    ],
    ids=range(20),
)
def test_hostile_pages_take_little_time(html: str) -> None:
    start = time.perf_counter()
    extract(html, URL)
    assert time.perf_counter() - start < 3


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=300), st.text(max_size=30), st.none() | st.text(max_size=10))
def test_any_page_is_read(html: bytes | str, url: str, charset: str | None) -> None:
    assert isinstance(extract(html, url, charset=charset), Metadata)


NAMES = st.sampled_from(["datePublished", "@type", "@graph", "author", "headline", "mainEntity", "name"])
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from(["Article", "2020-01-02"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_any_structured_data_is_read(data: object) -> None:
    found = of(json_ld(data))
    for name in (field.name for field in fields(Metadata)):
        value = getattr(found, name)
        assert not isinstance(value, str) or value.encode()
