"""``crawler.web.links``: what comes out of a page. How it is read is the matter of test_links_ways.py."""

import pytest

from crawler.web.directives import UNRESTRICTED
from crawler.web.links import Image, Link, PageLinks, Refresh, extract, head_of, parse_refresh

PAGE = "https://example.org/dir/page.html?q=1#top"


def read(html: str | bytes, url: str = PAGE, charset: str | None = None) -> PageLinks:
    return extract(html, url, charset=charset)


def urls(html: str | bytes, url: str = PAGE, charset: str | None = None) -> list[str]:
    return [link.url for link in read(html, url, charset).links]


def text(html: str) -> str:
    (link,) = read(html).links
    return link.text


def test_a_page_without_links() -> None:
    assert read("<p>Nothing") == PageLinks((), (), None, None, UNRESTRICTED, PAGE)


def test_a_link_says_where_it_leads_what_it_shows_and_how_it_relates() -> None:
    found = read('<a href="other.html#part" rel="Next NoOpener">The <b>next</b>\n page</a>')
    assert found.links == (
        Link("https://example.org/dir/other.html", "The next page", ("next", "noopener"), False, "a"),
    )
    assert found.next == "https://example.org/dir/other.html"


def test_every_element_that_links_in_the_order_of_the_page() -> None:
    found = read(
        "<link rel=stylesheet href=s.css><a href=a>A</a><map><area href=b alt=B></map><iframe src=c title=C></iframe>"
        "<video src=d><source src=e></video><audio src=f></audio><a href=g>G</a>"
    )
    assert [(link.tag, link.url[-1], link.text, link.is_page) for link in found.links] == [
        ("link", "s", "", False),
        ("a", "a", "A", True),
        ("area", "b", "B", True),
        ("iframe", "c", "C", True),
        ("video", "d", "", False),
        ("source", "e", "", False),
        ("audio", "f", "", False),
        ("a", "g", "G", True),
    ]


def test_frames_of_a_frameset() -> None:
    assert urls("<frameset><frame src=left.html><frame src=/right.html></frameset>") == [
        "https://example.org/dir/left.html",
        "https://example.org/right.html",
    ]


def test_links_between_pages_are_told_from_those_to_parts_of_the_page() -> None:
    found = read("<link rel=icon href=i><link rel=next href=n><link rel='alternate' href=m><link href=x>")
    assert [link.is_page for link in found.links] == [False, True, True, False]


HREFS = {
    "": "https://example.org/dir/page.html?q=1",
    "#part": "https://example.org/dir/page.html?q=1",
    "?x=1": "https://example.org/dir/page.html?x=1",
    "../up": "https://example.org/up",
    "../../up": "https://example.org/up",
    "//other.example/x": "https://other.example/x",
    " \n spaced.html ": "https://example.org/dir/spaced.html",
    "a\tb": "https://example.org/dir/ab",
    "./a/./b/../c": "https://example.org/dir/a/c",
    "https:rel": "https://example.org/dir/rel",
    "HTTP://EXAMPLE.com:80/%7ea": "http://example.com/%7ea",
    "ftp://files.example/x#y": "ftp://files.example/x",
    "straße?ü": "https://example.org/dir/stra%C3%9Fe?%C3%BC",
}


@pytest.mark.parametrize("href", HREFS)
def test_hrefs_are_resolved_as_they_are_fetched(href: str) -> None:
    assert urls(f'<a href="{href}">x</a>') == [HREFS[href]]


@pytest.mark.parametrize(
    "href",
    [
        "javascript:void(0)",
        "JavaScript:x",
        "mailto:a@b.c",
        "data:,x",
        "tel:1",
        "blob:x",
        "about:blank",
        "https://",
        "http://a b/",
    ],
)
def test_what_leads_nowhere_is_left_out(href: str) -> None:
    assert urls(f'<a href="{href}">x</a><a href="there">y</a>') == ["https://example.org/dir/there"]


def test_references_in_hrefs_are_decoded_as_in_attributes() -> None:
    assert urls('<a href="?a=1&amp;b=2&copy=3&#x26;d">x</a>') == ["https://example.org/dir/page.html?a=1&b=2&copy=3&d"]


def test_two_links_to_one_place_are_one_with_the_first_text_there_is() -> None:
    found = read("<a href=x><img src=i.png></a><a href='x#y'>Text</a><a href=./x>More</a>")
    assert [(link.url, link.text) for link in found.links] == [("https://example.org/dir/x", "Text")]


def test_a_place_is_nofollow_only_if_every_link_to_it_is() -> None:
    found = read("<a rel=nofollow href=x>1</a><a href=x>2</a><a rel='ugc NOFOLLOW' href=y>3</a>")
    assert [(link.text, link.rel, link.nofollow) for link in found.links] == [
        ("1", (), False),
        ("3", ("ugc", "nofollow"), True),
    ]


TEXTS = {
    "plain  \n text": "plain text",
    "<div>One</div><div>Two</div>": "One Two",
    "a<br>b<p>c</p>": "a b c",
    "J<b>oh</b>n": "John",
    "&lt;b&gt; &eacute; &#x27;&notit;": "<b> é '¬it;",
    "<!-- no --><script>no</script><style>no</style>yes": "yes",
    "<svg><title>Icon</title><path d='M0'/></svg>": "Icon",
    "<img src=1><img src=2 alt=' the  second '>": "the second",
    "<img alt=no>text": "text",
    "\xa0 no-break \xa0": "no-break",
    "5 < 6": "5 < 6",
}


@pytest.mark.parametrize("content", TEXTS)
def test_text_of_a_link(content: str) -> None:
    assert text(f"<a href=x>{content}</a>") == TEXTS[content]


def test_a_long_text_is_cut_and_ends_without_a_blank() -> None:
    for content in ("x " * 5_000, "<b>" + "x " * 5_000 + "</b><br>", f"<img src=i alt='{'x ' * 5_000}'>"):
        assert text(f"<a href=y>{content}</a>") == ("x " * 1_000).rstrip()


def test_a_link_that_is_not_closed_ends_where_the_parser_ends_it() -> None:
    found = read("<p><a href=x>one<p>two <a href=y>three")
    assert [(link.url[-1], link.text) for link in found.links] == [("x", "one"), ("y", "three")]


@pytest.mark.parametrize(
    "html",
    [
        "<!-- <a href=x> -->",
        "<!--><!-- <a href=x> --!>",
        "<script>'<a href=x>'</script>",
        "<style><a href=x></style>",
        "<textarea><a href=x></textarea>",
        "<title><a href=x></title>",
        "<template><a href=x>t</a></template>",
        "<iframe><a href=x></iframe>",
        "<div title='<a href=x>'>",
        '<div title="> <a href=x>t</a> <">',
        "<plaintext><a href=x>",
        "<a name=x>",
        "<a href=x",
        "<![CDATA[<a href=x>",
    ],
)
def test_what_is_no_link(html: str) -> None:
    assert urls(html) == []


def test_what_only_pages_without_scripts_show_counts() -> None:
    assert urls("<noscript><a href=x>x</a></noscript>") == ["https://example.org/dir/x"]


BASES = {
    "<base href=/b/>": "https://example.org/b/",
    "<a href=x></a><base target=_top><base href=//c.example/d/><base href=/e/>": "https://c.example/d/",
    "<base href='javascript:1'><base href=/b/>": PAGE,
    "<base href='data:,1'>": PAGE,
    "<base href='http://['>": PAGE,
    "<base href=''>": PAGE,
}


@pytest.mark.parametrize("html", BASES)
def test_the_first_base_with_an_href_counts(html: str) -> None:
    found = read(html + "<a href=x>x</a>")
    assert found.base.partition("#")[0] == BASES[html].partition("#")[0]
    assert found.links[0].url.endswith("/x")
    assert found.links[0].url.startswith(BASES[html].rpartition("/")[0])


def test_a_page_without_a_url_has_its_absolute_links() -> None:
    assert urls("<a href=x>1</a><a href=http://a.example>2</a>", "") == ["http://a.example/"]


def test_canonical_and_next_are_the_first_of_their_kind() -> None:
    found = read(
        "<link rel='shortlink canonical' href=c1><link rel=canonical href=c2>"
        "<a rel=next href=n1>1</a><link rel=next href=n2>"
    )
    assert (found.canonical, found.next) == ("https://example.org/dir/c1", "https://example.org/dir/n1")


def test_robots_meta_tags_for_everyone_and_for_us() -> None:
    found = read(
        "<meta name=ROBOTS content='noarchive'><meta name=crawlspace content=noindex><meta name=googlebot content=none>"
        "<a href=x>x</a>"
    )
    assert (found.meta_robots.noindex, found.meta_robots.nocache, found.meta_robots.nofollow) == (True, True, False)
    assert not found.links[0].nofollow


def test_a_page_may_forbid_to_follow_any_of_its_links() -> None:
    (link,) = read("<a href=x>x</a><meta name=robots content='index, nofollow'>").links
    assert (link.rel, link.nofollow) == ((), True)


def test_only_the_first_meta_refresh_counts() -> None:
    found = read(
        "<meta http-equiv=refresh content='nonsense'><meta http-equiv=Refresh content='3; URL=\"next.html\"'>"
        "<meta http-equiv=refresh content='0;url=later.html'>"
    )
    assert found.links == (Link("https://example.org/dir/next.html", tag="refresh"),)


def test_parse_refresh() -> None:
    assert parse_refresh("5") == Refresh(5, None)
    assert parse_refresh(" 0 ; url = 'a\nb' c") == Refresh(0, "ab")
    assert parse_refresh("soon; url=x") is None
    assert parse_refresh("9" * 5000) == Refresh(999_999_999, None)


def test_images_from_everywhere_each_once() -> None:
    found = read(
        "<meta property=og:image content=/card.png>"
        "<img src=a.png alt=' An  A ' width=10 height='20px' srcset='a.png 1x, b.png 2x'>"
        "<picture><source srcset='c.webp 1x'><img src='data:image/gif;base64,R0' data-src=d.png></picture>"
        "<img data-srcset='e.png 100w, f.png 200w' data-original=g.jpg data-lazy=true data-id=1/2>"
        "<video poster=h.png></video>"
    )
    assert found.images == (
        Image("https://example.org/card.png", source="meta"),
        Image("https://example.org/dir/a.png", "An A", "img", 10, 20),
        Image("https://example.org/dir/b.png", "An A", "srcset", 10, 20),
        Image("https://example.org/dir/c.webp", source="picture"),
        Image("https://example.org/dir/d.png", source="lazy"),
        Image("https://example.org/dir/e.png", source="lazy"),
        Image("https://example.org/dir/f.png", source="lazy"),
        Image("https://example.org/dir/g.jpg", source="lazy"),
        Image("https://example.org/dir/h.png", source="poster"),
    )


def test_images_inside_links_are_found_whether_the_link_is_new_or_not() -> None:
    found = read(
        '<a href="x">x</a><a href="x"><img src="1.png"></a>'
        '<a href="y"><p><img src="2.png"></p></a><a><img src=3.png></a>'
    )
    assert [image.url[-5:] for image in found.images] == ["1.png", "2.png", "3.png"]


def test_bytes_are_decoded_as_browsers_do() -> None:
    cyrillic = "<meta charset=windows-1251><a href='/путь?слово'>Текст</a>"
    (link,) = read(cyrillic.encode("windows-1251")).links
    # The path is UTF-8 whatever the page is, the query is in the encoding of the page.
    assert link.url == "https://example.org/%D0%BF%D1%83%D1%82%D1%8C?%F1%EB%EE%E2%EE"
    assert link.text == "Текст"
    assert read(cyrillic.encode("utf-16")).links[0].text == "Текст"
    assert read("<a href=x>ß</a>".encode("latin-1"), charset="iso-8859-1").links[0].text == "ß"
    assert read(b'<a href=x>\x1b$B$"\x1b(B</a>', charset="iso-2022-jp").links[0].text == "あ"


def test_references_in_ascii_pages_are_encoded_by_the_declared_encoding_too() -> None:
    assert urls(b"<meta charset=iso-8859-1><a href='?&pound;&#8364;&#1071;'>x</a>") == [
        "https://example.org/dir/page.html?%A3%80%26%231071%3B"
    ]


def test_one_page_does_not_lend_its_encoding_to_another() -> None:
    assert urls("<a href='p?é'>x</a>".encode("latin-1"), charset="latin1") == ["https://example.org/dir/p?%E9"]
    assert urls("<a href='p?é'>x</a>".encode()) == ["https://example.org/dir/p?%C3%A9"]


def test_lone_surrogates_do_not_come_out() -> None:
    (link,) = read("<a href='\ud800?\udfff'>\ud800 text</a>").links
    assert (link.url, link.text) == ("https://example.org/dir/%EF%BF%BD?%EF%BF%BD", "\ufffd text")


def test_the_head_ends_where_the_body_begins() -> None:
    head = (
        "<!DOCTYPE html><HTML lang=en><!-- <body> --><head><title>A <b> title</title><meta name=x content='<p>'>\n"
        "<script>'<body>'</script><style>a>b{}</style><noscript><link href=x></noscript></head>"
    )
    for body in ("<body class=b><title>no", "<p>no", "text", "", "<svg><title>no"):
        assert head_of(head + body) == head
    assert head_of("<title>never closed") == ""
