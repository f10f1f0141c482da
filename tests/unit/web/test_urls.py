"""What a URL means and which URLs are one: rules, edges, and that the fast ways give the standard's answer."""

import hashlib
import time
from collections.abc import Callable
from random import Random

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.web.urls import DEFAULT_TRACKING, MAX_URL_LENGTH, InvalidURL, Resolver, normalize, parse, resolve, url_hash

PAGE = "https://user@example.com:8443/a//b/c.html?q=1#f"

# Pieces that meet every branch of the parser, glued in any order.
PIECES = (
    *("http://", "HTTPS://", "https:", "//", "/", "\\", "?", "#", "&", "=", ";", ":", "@", "+"),
    *("a", "Z", "9", "b.c", "www.", "example.com", "xn--", "xn--mnchen-3ya", "1.2.3.4", "0x7f", "[::1]", ":80", ":443"),
    *(".", "..", "../", "./", "/./", "/../", "%2e", "%2E%2e", "%2F", "%41", "%7e", "%c3%a9", "%C0", "%", "%4", "%zz"),
    *(" ", "\t", "\n", "\x00", "\x7f", "'", '"', "<", "|", "[", "]", "^", "`", "{", "é", "ß", "。", "😀", "\ud800"),
    *("utm_source=x", "UTM_Source", "utm%5Fsource", "ref", "a=", "=b", "a=2&a=1", "a" * 300),
)
texts = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
web_urls = texts.map("http://h".__add__) | texts.map("https://example.com/".__add__)


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        # 1: scheme and host
        ("HTTP://Example.COM/A", "http://example.com/A"),
        ("http://M\u00dcNCHEN.de/", "http://xn--mnchen-3ya.de/"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://example.com.:8080/a", "http://example.com:8080/a"),
        ("http://a../", "http://a../"),
        ("http://./", "http://./"),
        ("http://0x7F.1/", "http://127.0.0.1/"),
        ("http://[2001:DB8:0::1]/", "http://[2001:db8::1]/"),
        # 2: default ports
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com:0080/", "http://example.com/"),
        # 3: trailing slashes
        ("http://example.com", "http://example.com/"),
        ("http://example.com//", "http://example.com/"),
        ("http://example.com/a/", "http://example.com/a"),
        ("http://example.com/a//", "http://example.com/a"),
        ("http://example.com/a//b/", "http://example.com/a//b"),
        ("http://example.com/a%2F", "http://example.com/a%2F"),
        ("http://example.com/a/?b=/", "http://example.com/a?b=/"),
        # 4: sorted parameters, equal names in their order
        ("http://h/?b=1&a=2&b=0", "http://h/?a=2&b=1&b=0"),
        ("http://h/?a-b=1&a=2", "http://h/?a=2&a-b=1"),
        ("http://h/?%5B=1&Z=2", "http://h/?Z=2&%5B=1"),
        ("http://h/?a=1;b=2", "http://h/?a=1;b=2"),
        ("http://h/?", "http://h/"),
        ("http://h/?&&a&", "http://h/?a"),
        ("http://h/?b=&a&=c", "http://h/?=c&a&b="),
        ("http://h/??b&a", "http://h/??b&a"),
        # 5: fragment
        ("http://h/a#b?c", "http://h/a"),
        ("http://h/a?b#", "http://h/a?b"),
        # 6: tracking parameters
        ("http://h/?utm_source=x&id=1&ref=y", "http://h/?id=1"),
        ("http://h/?UTM_Campaign=x&FbClId&gclid=", "http://h/"),
        ("http://h/?utm%5fsource=x&%72ef=1&refer=1&sources=2", "http://h/?refer=1&sources=2"),
        ("http://h/ref/source?x=utm_source", "http://h/ref/source?x=utm_source"),
        # 7: one spelling of path and query
        ("http://h/%7euser/%41%2d", "http://h/~user/A-"),
        ("http://h/caf\u00e9?q=\u00e9", "http://h/caf%C3%A9?q=%C3%A9"),
        ("http://h/%c3%a9?q=%c3%a9", "http://h/%C3%A9?q=%C3%A9"),
        ("http://h/a%2fb%3f%23?c%26d%3d", "http://h/a%2Fb%3F%23?c%26d%3D"),
        ("http://h/%C0%ff?%fe", "http://h/%C0%FF?%FE"),
        ("http://h/100%?p=5%&q=%4", "http://h/100%25?p=5%25&q=%254"),
        ("http://h/%%37%37", "http://h/%2577"),
        ("http://h/a|b[c]?d[]=e^`{}|\\", "http://h/a%7Cb%5Bc%5D?d%5B%5D=e%5E%60%7B%7D%7C%5C"),
        ("http://h/it's?it's", "http://h/it's?it%27s"),
        ("http://h/a+b?c+d=%20", "http://h/a+b?c+d=%20"),
        # The parser's own work
        ("  http://h/a\tb\nc  ", "http://h/abc"),
        ("http:\\\\h\\a\\..\\b", "http://h/b"),
        ("http:h/a", "http://h/a"),
        ("http://h/a/%2E%2e/b/./c/.", "http://h/b/c"),
        ("http://h/.well-known/x", "http://h/.well-known/x"),
        ("http://User:Pa%73s@h/", "http://User:Pa%73s@h/"),
        ("http://h/\ud800", "http://h/%EF%BF%BD"),
    ],
)
def test_normalize(url: str, normal: str) -> None:
    assert normalize(url) == normal


NO_URL = """
example.com /a //example.com/ ?q #f http http: http:// http:/// https://?q
http://:80/ http://h:99999/ http://h:x/ http://user@/ http://[::1 http://1.2.3.256/ http://%/
"""
NOT_OF_THE_WEB = "ftp://h/ file:///etc/passwd mailto:a@b javascript:alert(1) data:,x blob:http://h/x ws://h/"
ODD_HOSTS = ["", " ", "http://a b/", "http://\ud800/", "http://\u00ad/", "http://a\x00b/"]


@pytest.mark.parametrize("url", [*NO_URL.split(), *NOT_OF_THE_WEB.split(), *ODD_HOSTS])
def test_what_is_no_url_of_the_web_is_invalid(url: str) -> None:
    for function in (normalize, resolve, url_hash):
        with pytest.raises(InvalidURL):
            function(url)


def test_normalize_resolves_against_a_base() -> None:
    assert normalize("../d/?b&a#x", PAGE) == "https://user@example.com:8443/a//d?a&b"
    assert normalize("//Other.example", PAGE) == "https://other.example/"
    with pytest.raises(InvalidURL):
        normalize("a", "nonsense")


def test_tracking_parameters_are_a_setting() -> None:
    url = "http://h/?SID=1&ref=2&b=3"
    assert normalize(url, drop_params=()) == "http://h/?SID=1&b=3&ref=2"
    assert normalize(url, drop_params=["Sid"]) == "http://h/?b=3&ref=2"
    assert normalize(url, drop_params=DEFAULT_TRACKING | {"sid"}) == "http://h/?b=3"
    assert normalize("http://h/?gr%C3%BC%C3%9Fe=1", drop_params={"GR\u00dc\u00dfE"}) == "http://h/"


def test_url_hash_is_the_sha_256_of_the_normal_form() -> None:
    expected = hashlib.sha256(b"http://example.com/a?b=1").hexdigest()
    assert url_hash("HTTP://example.com:80/a/?utm_source=x&b=1#top") == expected
    assert url_hash("http://example.com/a?b=1&ref=2", drop_params=()) != expected


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("", "https://user@example.com:8443/a//b/c.html?q=1"),
        ("#top", "https://user@example.com:8443/a//b/c.html?q=1"),
        ("?p=2", "https://user@example.com:8443/a//b/c.html?p=2"),
        ("?", "https://user@example.com:8443/a//b/c.html?"),
        ("d.html#x", "https://user@example.com:8443/a//b/d.html"),
        (" d.html\n", "https://user@example.com:8443/a//b/d.html"),
        ("../d", "https://user@example.com:8443/a//d"),
        ("../../d", "https://user@example.com:8443/a/d"),
        ("../" * 40 + "d", "https://user@example.com:8443/d"),
        ("..", "https://user@example.com:8443/a//"),
        ("./d/./e/..", "https://user@example.com:8443/a//b/d/"),
        ("%2e%2e/d", "https://user@example.com:8443/a//d"),
        ("/d/:e", "https://user@example.com:8443/d/:e"),
        ("d:e", None),
        ("d/e:f", "https://user@example.com:8443/a//b/d/e:f"),
        ("https:d", "https://user@example.com:8443/a//b/d"),
        ("http:d", "http://d/"),
        ("//other.example", "https://other.example/"),
        ("http://Other.example:80?x", "http://other.example/?x"),
        ("/a b|'?a b|'", "https://user@example.com:8443/a%20b|'?a%20b|%27"),
        ("mailto:a@example.com", None),
        ("JavaScript:void(0)", None),
        ("data:text/html,x", None),
        ("tel:+49", None),
        ("http://[x]/", None),
    ],
)
def test_resolve(href: str, url: str | None) -> None:
    if url is None:
        with pytest.raises(InvalidURL):
            resolve(href, PAGE)
    else:
        assert resolve(href, PAGE) == url


def test_trailing_slash_is_fetched_but_no_part_of_the_identity() -> None:
    fetched = resolve("/docs/#intro", "http://h/")
    assert fetched == "http://h/docs/"
    assert url_hash(fetched) == url_hash("http://h/docs")


def test_absolute_hrefs_mean_something_on_a_page_of_any_scheme() -> None:
    for base in ("about:blank", "data:text/html,x", "file:///a/b", PAGE):
        assert Resolver(base)("https://h/x") == "https://h/x"
    with pytest.raises(InvalidURL):
        Resolver("about:blank")("x")
    with pytest.raises(InvalidURL):
        Resolver("no base")


def test_parse_gives_the_parts() -> None:
    parts = parse("../x?q#f", PAGE)
    assert parts == (
        *("https://user@example.com:8443/a//x?q#f", "https", "user", "", "example.com", 8443),
        *("/a//x", "q", "f"),
    )
    assert parse("https://h:443").port is None


def test_long_texts_are_refused_in_no_time() -> None:
    started = time.perf_counter()
    longest = "http://h/" + "a" * (MAX_URL_LENGTH - len("http://h/"))
    assert normalize(longest) == resolve("#" + "f" * 1_000_000, longest) == longest
    assert len(normalize("http://h/?" + "|" * 20_000)) == len("http://h/?") + 60_000
    for url in (
        longest + "a",
        "http://h/?" + "|" * ((MAX_URL_LENGTH - len("http://h/?")) // 3) + "aa",
        "http://h/" + "\u00e9" * (MAX_URL_LENGTH // 2),
        "http://h/?" + "|" * (MAX_URL_LENGTH - 100),
        "http://" + "\u4e00\u9fff" * 600,
        " ht\ttp:" + "/" * 100 + "a" * 1025,
        "a" * 10_000_000,
        "http://h/" + "../" * 1_000_000,
        "data:" + "a" * 10_000_000,
    ):
        with pytest.raises(InvalidURL) as refused:
            normalize(url)
        assert len(str(refused.value)) < 2_500
    with pytest.raises(InvalidURL):
        Resolver(longest + "a")
    with pytest.raises(InvalidURL):
        resolve("/a/b/c", "http://" + "a" * 1025)
    assert time.perf_counter() - started < 2


@settings(max_examples=400, deadline=None)
@given(web_urls | texts)
@example("http://0x7f../")
@example("http://h/%2%65%2e")
@example("http://h/?%2B=1&+=2&%20=3")
def test_normal_form_is_ascii_stable_and_parses_to_itself(url: str) -> None:
    try:
        normal = normalize(url)
    except InvalidURL:
        return
    assert normal.isascii()
    assert normalize(normal) == normal
    assert ada_url.normalize_url(normal) == normal
    assert "#" not in normal


@settings(max_examples=400, deadline=None)
@given(web_urls)
def test_normalize_is_the_same_the_fast_and_the_slow_way(url: str) -> None:
    # A leading space means nothing but keeps the text off the fast way.
    assert _or_invalid(normalize, url) == _or_invalid(normalize, " " + url)


@settings(max_examples=600, deadline=None)
@given(web_urls, texts)
@example("http://h/a?b", "//")
@example("http://h", "a/../../b")
def test_resolve_gives_the_parsers_answer(base: str, href: str) -> None:
    try:
        expected = parse(href, base).href.partition("#")[0]
    except InvalidURL:
        expected = "invalid"
    assert _or_invalid(lambda text: resolve(text, base), href) == (
        expected if expected.startswith(("http:", "https:")) else "invalid"
    )


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["a=1", "b", "c=", "%C3%A9=1", "z+y=2", "%5B=3"]), unique=True, max_size=6), st.randoms()
)
def test_the_order_of_different_parameters_does_not_matter(parameters: list[str], chance: Random) -> None:
    shuffled = list(parameters)
    chance.shuffle(shuffled)
    assert normalize("http://h/?" + "&".join(shuffled)) == normalize("http://h/?" + "&".join(parameters))


def _or_invalid(function: Callable[[str], str], text: str) -> str:
    try:
        return function(text)
    except InvalidURL:
        return "invalid"
