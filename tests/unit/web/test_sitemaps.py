"""What stands in a sitemap, and what a broken or hostile one can do."""

import gzip
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.web.sitemaps import Alternate, SitemapEntry, SitemapParse, parse

URL = "https://example.com/maps/sitemap.xml"


def read(body: str | bytes, url: str | None = URL, **options: int) -> tuple[list[SitemapEntry], SitemapParse]:
    found = parse(body.encode() if isinstance(body, str) else body, url, **options)  # type: ignore[arg-type] # bool too
    return list(found), found


def locs(body: str | bytes, url: str | None = URL) -> list[str]:
    return [entry.loc for entry in read(body, url)[0]]


def urlset(*entries: str) -> str:
    return (
        f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}</urlset>'
    )


def page(loc: str, more: str = "") -> str:
    return f"<url><loc>{loc}</loc>{more}</url>"


class TestEntries:
    def test_all_that_an_entry_can_say(self) -> None:
        more = (
            "<lastmod>2024-05-06T07:08:09.5+02:00</lastmod><changefreq> Weekly </changefreq><priority>0.8</priority>"
            "<image:image><image:loc>/a.png</image:loc><image:title>x</image:title></image:image>"
            "<image:image><image:loc>https://cdn.example/b.png</image:loc></image:image>"
            '<xhtml:link rel="alternate" hreflang="de" href="/de/"/>'
        )
        [entry], found = read(urlset(page("https://example.com/?a=1&amp;b=2#top", more)))
        assert entry == SitemapEntry(
            loc="https://example.com/?a=1&b=2",
            lastmod=datetime(2024, 5, 6, 5, 8, 9, 500_000, tzinfo=UTC),
            changefreq="weekly",
            priority=0.8,
            images=("https://example.com/a.png", "https://cdn.example/b.png"),
            alternates=(Alternate("de", "https://example.com/de/"),),
            is_sitemap=False,
        )
        assert (found.kind, found.error, found.skipped) == ("urlset", None, 0)

    def test_an_entry_may_say_nothing_but_its_address(self) -> None:
        assert read(urlset(page("/a")))[0] == [SitemapEntry("https://example.com/a")]

    @pytest.mark.parametrize(
        ("text", "moment"),
        [
            ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
            ("2024-05", datetime(2024, 5, 1, tzinfo=UTC)),
            ("2024-05-06", datetime(2024, 5, 6, tzinfo=UTC)),
            ("2024-05-06T07:08Z", datetime(2024, 5, 6, 7, 8, tzinfo=UTC)),
            ("2024-05-06T07:08:09.123456789-01:00", datetime(2024, 5, 6, 8, 8, 9, 123_456, tzinfo=UTC)),
            ("2024-05-06 07:08:09", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
            ("Mon, 06 May 2024 07:08:09 GMT", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
            ("0001-01-01T00:00:00+14:00", None),
            ("yesterday", None),
            ("", None),
        ],
    )
    def test_dates(self, text: str, moment: datetime | None) -> None:
        assert read(urlset(page("/a", f"<lastmod>{text}</lastmod>")))[0][0].lastmod == moment

    @pytest.mark.parametrize("text", ["2", "-0.1", "nan", "high", ""])
    def test_a_priority_outside_of_zero_to_one_is_none(self, text: str) -> None:
        assert read(urlset(page("/a", f"<priority>{text}</priority><changefreq>often</changefreq>")))[0][0][2:4] == (
            None,
            None,
        )

    @pytest.mark.parametrize(
        ("loc", "url"),
        [
            ("page", "https://example.com/maps/page"),
            ("//other.example/x", "https://other.example/x"),
            ("example.com/x", "https://example.com/x"),
            ("example.community/x", "https://example.com/maps/example.community/x"),
            ("\n  https://example.com/<![CDATA[?a&b]]>\u00a0\n", "https://example.com/?a&b"),
            ("https://EXAMPLE.com/\u00e9", "https://example.com/%C3%A9"),
        ],
    )
    def test_addresses_are_resolved(self, loc: str, url: str) -> None:
        assert locs(urlset(page(loc))) == [url]

    def test_entries_without_a_usable_address_are_skipped_and_counted(self) -> None:
        entries, found = read(urlset(page("mailto:a@b"), page(""), "<url/>", page("http://[::"), page("/ok")))
        assert ([entry.loc for entry in entries], found.skipped, found.error) == (["https://example.com/ok"], 4, None)

    @pytest.mark.parametrize("url", [None, "", "not a url"])
    def test_without_an_own_address_only_absolute_ones_count(self, url: str | None) -> None:
        assert locs(urlset(page("/a"), page("http://example.com/b")), url) == ["http://example.com/b"]

    def test_the_location_rule_is_an_option(self) -> None:
        body = urlset(page("/maps/in"), page("/out"), page("https://other.example/maps/"))
        assert len(locs(body)) == 3
        assert [entry.loc for entry in parse(body.encode(), URL, within_location=True)] == [
            "https://example.com/maps/in"
        ]


class TestKinds:
    def test_an_index_names_sitemaps(self) -> None:
        entries, found = read(
            "<sitemapindex><sitemap><loc>/1.xml.gz</loc><lastmod>2024</lastmod></sitemap></sitemapindex>"
        )
        assert found.kind == "index"
        assert entries == [
            SitemapEntry("https://example.com/1.xml.gz", datetime(2024, 1, 1, tzinfo=UTC), is_sitemap=True)
        ]

    def test_forgotten_tags_in_an_index(self) -> None:
        first = "<sitemap><loc>/1</loc><lastmod>2024</lastmod><loc>/2</loc></sitemap>"
        entries, _ = read(f"<sitemapindex>{first}<sitemap>/3</sitemap></sitemapindex>")
        assert [(entry.loc[-2:], entry.lastmod is None) for entry in entries] == [
            ("/1", False),
            ("/2", True),
            ("/3", True),
        ]

    def test_rss(self) -> None:
        body = (
            "<rss><channel><link>https://example.com/</link>"
            "<item><link>/1</link><pubDate>06 May 24 07:08:09 EST</pubDate></item>"
            "<item><guid isPermaLink='true'>https://example.com/2</guid></item><item><title>none</title></item>"
            "</channel></rss>"
        )
        entries, found = read(body)
        assert found.kind == "rss"
        assert [entry.loc for entry in entries] == ["https://example.com/1", "https://example.com/2"]
        assert entries[0].lastmod == datetime(2024, 5, 6, 12, 8, 9, tzinfo=UTC)

    def test_atom(self) -> None:
        body = (
            '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="self" href="/self"/>'
            '<link rel="alternate" href="/1"/><published>2020</published><updated>2024-05-06</updated></entry>'
            '<entry><link href="/2"/><source><link href="/no"/></source></entry></feed>'
        )
        entries, found = read(body)
        assert found.kind == "atom"
        assert [entry.loc for entry in entries] == ["https://example.com/1", "https://example.com/2"]
        assert entries[0].lastmod == datetime(2024, 5, 6, tzinfo=UTC)

    def test_text(self) -> None:
        body = "\ufeff# ours\r\nhttps://example.com/1\r\n\r\n HTTPS://example.com/2 \nnot one\n/relative\nhttps://example.com/3"
        entries, found = read(body)
        assert [entry.loc[-2:] for entry in entries] == ["/1", "/2", "/3"]
        assert (found.kind, found.skipped, found.error) == ("text", 2, None)

    @pytest.mark.parametrize("body", ["", " \n", "no sitemap at all", "<html><body/></html>", "<!DOCTYPE html><p>"])
    def test_anything_else_is_an_error(self, body: str) -> None:
        entries, found = read(body)
        assert (entries, found.kind) == ([], None)
        assert found.error

    def test_prefixes_do_not_matter(self) -> None:
        assert locs(
            "<sm:urlset><sm:url><sm:loc>/a</sm:loc><i:image><i:loc>/b</i:loc></i:image></sm:url></sm:urlset>"
        ) == ["https://example.com/a"]


class TestBytes:
    @pytest.mark.parametrize("start", ["", "\n \t", "\ufeff", "\ufeff\r\n"])
    def test_white_space_before_the_declaration(self, start: str) -> None:
        assert locs(start + urlset(page("/a"))) == ["https://example.com/a"]

    @pytest.mark.parametrize(
        ("label", "encoding"),
        [
            ("UTF-16", "utf-16"),
            ("UTF-16", "utf-16-be"),
            ("UTF-32", "utf-32"),
            ("ISO-8859-1", "latin-1"),
            ("windows-1251", "cp1251"),
            ("gbk", "gbk"),
            ("Shift_JIS", "shift_jis"),
            ("utf-8", "utf-8-sig"),
        ],
    )
    def test_encodings(self, label: str, encoding: str) -> None:
        letter = {"latin-1": "é"}.get(encoding, "я")
        body = f'<?xml version="1.0" encoding="{label}"?><urlset>{page("/" + letter)}</urlset>'
        assert locs(body.encode(encoding)) == locs(urlset(page("/" + letter)))

    @pytest.mark.parametrize("label", ["rot13", "zlib", "no-such", "iso-8859-99"])
    def test_an_unknown_encoding_is_read_as_utf8(self, label: str) -> None:
        assert locs(f'<?xml version="1.0" encoding="{label}"?><urlset>{page("/é")}</urlset>') == [
            "https://example.com/%C3%A9"
        ]

    def test_wrong_bytes_do_not_end_the_file(self) -> None:
        assert len(locs(b"<urlset><url><loc>/\xff</loc></url><url><loc>/b</loc></url></urlset>")) == 2

    def test_gzip_is_known_by_its_content(self) -> None:
        body = urlset(page("/a")).encode()
        assert locs(gzip.compress(body)) == locs(gzip.compress(gzip.compress(body))) == locs(body)
        assert locs(body, "https://example.com/sitemap.xml.gz") == ["https://example.com/a"]
        assert locs(gzip.compress(body[:50]) + gzip.compress(body[50:]) + b"\0\0junk") == ["https://example.com/a"]


class TestBreaks:
    MANY = urlset(*(page(f"/{number}") for number in range(20_000))).encode()

    def test_what_came_before_a_break_is_kept(self) -> None:
        entries, found = read(urlset(page("/a"), page("/b"), "<url><loc>/c</b></url>", page("/d")))
        assert [entry.loc[-2:] for entry in entries] == ["/a", "/b"]
        assert found.error and found.error.startswith("XML: ")

    @pytest.mark.parametrize(
        ("end", "count"),
        [("</", 1), ("</lo", 1), ("</loc", 1), ("</loc>", 1), ("</loc><last", 1), ("", 0), ("&am", 0), ("x", 0)],
    )
    def test_the_last_entry_counts_when_its_address_was_whole(self, end: str, count: int) -> None:
        entries, found = read("<urlset><url><loc>https://example.com/page" + end)
        assert len(entries) == count
        assert found.error

    def test_a_cut_gzip_stream(self) -> None:
        packed = gzip.compress(self.MANY)
        entries, found = read(packed[: len(packed) // 2])
        assert 1_000 < len(entries) < 20_000
        assert found.error == "gzip: the stream ends early"

    def test_a_damaged_gzip_stream(self) -> None:
        packed = bytearray(gzip.compress(self.MANY))
        packed[len(packed) // 2 : len(packed) // 2 + 200] = b"\xff" * 200
        entries, found = read(bytes(packed))
        assert entries
        assert found.error

    def test_junk_behind_the_end_is_nobodys(self) -> None:
        entries, found = read(urlset(page("/a")) + "<?php oops & <more>")
        assert (len(entries), found.error) == (1, None)

    def test_limits(self) -> None:
        entries, found = read(self.MANY, max_entries=10)
        assert (len(entries), found.error) == (10, "more than 10 entries")
        assert read(self.MANY, max_entries=20_000)[1].error is None
        entries, found = read(self.MANY, max_bytes=100_000)
        assert 0 < len(entries) < 20_000
        assert found.error == "larger than 100000 bytes"

    def test_it_reads_as_it_goes(self) -> None:
        found = parse(self.MANY + b"<", URL)
        assert next(found).loc == "https://example.com/0"
        assert (found.kind, found.error) == ("urlset", None)


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
HOSTILE: dict[str, Callable[[], bytes]] = {
    "billion laughs": lambda: f'<!DOCTYPE u [<!ENTITY l0 "ha">{LAUGHS}]>{urlset(page("&l9;"))[21:]}'.encode(),
    "laughs in an attribute": lambda: f'<!DOCTYPE u [<!ENTITY l0 "ha">{LAUGHS}]><urlset a="&l9;"/>'.encode(),
    "attribute defaults": lambda: (
        b'<!DOCTYPE u [<!ATTLIST url a CDATA "' + b"x" * 500_000 + b'">]><urlset>' + b"<url/>" * 40_000
    ),
    "spaces": lambda: gzip.compress(b" " * 60_000_000),
    "spaces in the root": lambda: gzip.compress(b"<urlset>" + b" " * 60_000_000),
    "bomb in a bomb": lambda: gzip.compress(gzip.compress(b"<urlset>" + b" " * 60_000_000)),
    "empty gzip members": lambda: gzip.compress(gzip.compress(b"") * 200_000),
    "deep": lambda: b"<urlset>" + b"<a>" * 1_000_000,
    "deep entry": lambda: b"<urlset><url>" + b"<a>" * 1_000_000,
    "long tag": lambda: b"<urlset><url " + b"a" * 20_000_000,
    "long comment": lambda: b"<urlset><!--" + b"a" * 20_000_000,
    "long address": lambda: b"<urlset><url><loc>" + b"a" * 20_000_000 + b"</loc></url>",
    "long line": lambda: b"https://example.com/" + b"a" * 20_000_000,
    "images": lambda: b"<urlset><url><loc>/a</loc>" + b"<image><loc>/i</loc></image>" * 100_000,
    "alternates": lambda: b"<urlset><url><loc>/a</loc>" + b'<link href="/i"/>' * 100_000,
    "addresses of no use": lambda: b"<urlset>" + b"<url><loc>data:,</loc></url>" * 100_000,
    "lines of no use": lambda: b"x\n" * 5_000_000,
    "angles": lambda: b"<" * 20_000_000,
    "zeros": lambda: b"\0" * 20_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_take_little_time_and_memory(name: str) -> None:
    body = HOSTILE[name]()
    started = time.perf_counter()
    found = parse(body, URL)
    assert sum(1 for _ in found) <= 1
    assert time.perf_counter() - started < 5
    assert found.error
    tracemalloc.start()
    next(parse(body[:3_000_000], URL), None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000


def test_external_entities_are_never_fetched() -> None:
    doctype = (
        '<!DOCTYPE u [<!ENTITY f SYSTEM "file:///etc/hostname"><!ENTITY % p SYSTEM "http://127.0.0.1:1/x.dtd"> %p;]>'
    )
    assert locs(f"{doctype}<urlset>{page('/&f;a')}{page('&f;')}</urlset>") == ["https://example.com/a"]


PIECES = st.sampled_from(
    b"<urlset> </urlset> <sitemapindex> <rss> <feed> <url> </url> <loc> </loc> <lastmod> <item> <entry> <image:loc> "
    b"<link\thref='/x'/> https://example.com/a /b 2024-01-01 &amp; & <!-- --> <![CDATA[ ]]> \n \xff \0 "
    b"<!DOCTYPE\ta\t[ <!ENTITY\tb\t'c'> ]> \x1f\x8b\x08".split(b" ")
)


@given(st.binary(max_size=400) | st.lists(PIECES, max_size=25).map(b"".join), st.booleans(), st.text(max_size=20))
@settings(max_examples=400, deadline=None)
def test_never_raises(body: bytes, packed: bool, url: str) -> None:
    found = parse(gzip.compress(body, 1) if packed else body, url)
    for entry in found:
        assert entry.loc.startswith(("http://", "https://"))
        assert entry.lastmod is None or entry.lastmod.tzinfo is UTC
