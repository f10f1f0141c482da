"""What a robots.txt lets a crawler do."""

import json
import re
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.web.robots import MAX_BYTES, Robots, Verdict, canonical_path, product_token, robots_url_for
from crawler.web.urls import InvalidURL

FETCHED_AT = datetime(2024, 1, 20, tzinfo=UTC)


def allowed(body: str | bytes, url: str, agent: str | list[str] | None = "SearchBot") -> bool:
    return Robots.parse(body).verdict(agent, url).allowed


def rules(*lines: str) -> Robots:
    return Robots.parse("\n".join(("User-agent: *", *lines)))


class TestVerdict:
    def test_names_the_rule_and_its_line(self) -> None:
        robots = Robots.parse("# hello\n\nUser-agent: *\nDisallow: /private/  # keep out\n")
        assert robots.verdict("SearchBot", "https://example.com/private/x") == Verdict(False, "Disallow: /private/", 4)

    def test_without_a_matching_rule_everything_is_allowed(self) -> None:
        assert rules("Disallow: /a").verdict("SearchBot", "/b") == Verdict(True, None, None)

    @pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
    def test_lines_count_alike_whatever_ends_them(self, newline: str) -> None:
        robots = Robots.parse(newline.join(("User-agent: *", "", "Disallow: /a")))
        assert robots.verdict("SearchBot", "/a").line == 3

    def test_the_longest_rule_wins_wherever_it_stands(self) -> None:
        robots = rules("Disallow: /", "Allow: /shop", "Disallow: /shop/cart")
        assert not robots.verdict("b", "/x").allowed
        assert robots.verdict("b", "/shop/1").allowed
        assert not robots.verdict("b", "/shop/cart/1").allowed

    def test_on_equal_length_the_allowing_rule_wins(self) -> None:
        assert rules("Disallow: /page", "Allow: /page").verdict("b", "/page") == Verdict(True, "Allow: /page", 3)

    def test_among_equal_rules_the_first_is_named(self) -> None:
        assert rules("Disallow: /a", "Disallow: /a").verdict("b", "/a").line == 2
        assert rules("Disallow: /*b", "Disallow: /a*").verdict("b", "/ab").line == 2

    def test_a_trailing_star_counts_for_length_only(self) -> None:
        assert not rules("Allow: /a", "Disallow: /a*").verdict("b", "/abc").allowed

    def test_an_empty_rule_says_nothing(self) -> None:
        assert rules("Disallow:", "Allow:").verdict("b", "/") == Verdict(True, None, None)

    def test_the_robots_file_itself_is_always_allowed(self) -> None:
        assert allowed("User-agent: *\nDisallow: /", "https://example.com/robots.txt")
        assert not allowed("User-agent: *\nDisallow: /", "https://example.com/robots.txt.bak")

    def test_the_query_is_part_of_the_match_and_the_fragment_is_not(self) -> None:
        robots = rules("Disallow: /*?sort=")
        assert not robots.verdict("b", "https://example.com/list?sort=up#top").allowed
        assert robots.verdict("b", "https://example.com/list#?sort=up").allowed

    @pytest.mark.parametrize("url", ["https://example.com", "example.com", "//example.com#x", "", "/", "HTTP://a.b:8?"])
    def test_a_url_without_a_path_is_the_root(self, url: str) -> None:
        assert rules("Disallow: /$", "Disallow: /?$").verdict("b", url).allowed is False

    def test_allowing_an_index_page_allows_its_directory_address(self) -> None:
        robots = rules("Disallow: /a/", "Allow: /a/index.html")
        assert robots.verdict("b", "/a/").allowed
        assert not robots.verdict("b", "/a/other").allowed


class TestWildcards:
    @pytest.mark.parametrize(
        ("rule", "matching", "other"),
        [
            ("/fish*.php", "/fish/x.php5", "/Fish.php"),
            ("/*.php$", "/a/b.php", "/a.php?x"),
            ("*gif$", "/a.gif", "/a.gif/"),
            ("/a*b*c", "/a1b2c3", "/a1c2b"),
            ("/a**b", "/ab", "/ba"),
            ("/aba*aba$", "/abaaba", "/aba"),
            ("/$", "/", "/x"),
            ("/a$b", "/a$b", "/a"),
            ("/a*$", "/abc", "/b"),
            ("/*", "/anything", "no-such-thing"),
            ("/*%24x", "/a$x", "/ax"),
            ("/*/*/*/x", "/a/b/c/x", "/a/b/x"),
        ],
    )
    def test_star_and_dollar(self, rule: str, matching: str, other: str) -> None:
        robots = rules(f"Disallow: {rule}")
        assert not robots.verdict("b", matching).allowed
        assert other == "no-such-thing" or robots.verdict("b", other).allowed


class TestSpelling:
    @pytest.mark.parametrize(
        ("rule", "url"),
        [
            ("/ツ", "/%E3%83%84"),
            ("/%e3%83%84", "/ツ"),
            ("/%62%61%7A", "/baz"),
            ("/~joe", "/%7ejoe"),
            ("/a%3cd", "/a<d"),
            ("/a b", "/a%20b"),
            ("/a|b", "/a%7Cb"),
            ("/x%2Ay", "/x*y"),
            ("/?u=https://foo.bar", "/?u=https%3A%2F%2Ffoo.bar"),
            ("/?u=https%3a%2f%2ffoo.bar", "/?u=https://foo.bar"),
            ("/%zz", "/%zz"),
        ],
    )
    def test_the_same_octets_are_equal_however_written(self, rule: str, url: str) -> None:
        assert not rules(f"Disallow: {rule}").verdict("b", url).allowed

    @pytest.mark.parametrize(
        ("rule", "url"), [("/a%2Fb", "/a/b"), ("/a/b", "/a%2Fb"), ("/a:b", "/a%3Ab"), ("/A", "/a")]
    )
    def test_reserved_characters_and_case_differ(self, rule: str, url: str) -> None:
        assert rules(f"Disallow: {rule}").verdict("b", url).allowed

    def test_octets_that_are_no_utf8_still_match_their_escape(self) -> None:
        assert not allowed(b"User-agent: *\nDisallow: /b\xfccher", "/b%FCcher")

    @given(st.text(max_size=50))
    @settings(max_examples=200, deadline=None)
    def test_a_path_and_its_encoded_form_are_equal(self, text: str) -> None:
        encoded = quote(text, safe="/?=&:;,@+!'()[]", errors="replace")
        assert canonical_path(encoded) == canonical_path(text.encode("utf-8", "replace").decode().replace("%", "%25"))
        assert canonical_path(text).isascii()


class TestGroups:
    FILE = "User-agent: *\nDisallow: /\n\nUser-agent: SearchBot\nUser-agent: Other\nAllow: /\nDisallow: /internal/\n"

    @pytest.mark.parametrize(
        "agent",
        ["searchbot", "SearchBot/1.0 (+http://example.com)", "Mozilla/5.0 (compatible; SearchBot/2.1; +x)", "OTHER"],
    )
    def test_the_product_token_chooses_the_group(self, agent: str) -> None:
        assert allowed(self.FILE, "/page", agent)
        assert not allowed(self.FILE, "/internal/page", agent)

    @pytest.mark.parametrize("agent", ["search", "searchbot-news", "xsearchbot", "", None])
    def test_any_other_name_is_anybody(self, agent: str | None) -> None:
        assert not allowed(self.FILE, "/page", agent)

    def test_groups_of_one_agent_are_merged(self) -> None:
        body = "User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: A\nDisallow: /3\n"
        assert [allowed(body, path, "a") for path in ("/1", "/2", "/3")] == [False, True, False]

    def test_several_names_obey_all_their_groups(self) -> None:
        body = "User-agent: a\nDisallow: /1\n\nUser-agent: b\nDisallow: /2\n\nUser-agent: *\nDisallow: /3\n"
        assert [allowed(body, path, ["a", "b"]) for path in ("/1", "/2", "/3")] == [False, False, True]
        assert not allowed(body, "/3", ["a", "*"])

    def test_a_named_group_without_rules_is_free(self) -> None:
        assert allowed("User-agent: *\nDisallow: /\n\nUser-agent: searchbot\n", "/page")

    def test_unknown_lines_and_delays_do_not_end_a_list_of_agents(self) -> None:
        body = "User-agent: a\nNoindex: /x\nCrawl-delay: 3\n\nUser-agent: b\nDisallow: /\n"
        assert not allowed(body, "/", "a")

    def test_rules_before_any_agent_are_nobodys(self) -> None:
        assert allowed("Disallow: /\nUser-agent: other\nDisallow: /\n", "/page")

    @pytest.mark.parametrize(
        ("header", "token"),
        [
            ("Foo/1.2 (x)", "foo"),
            ("  Foo Bar", "foo"),
            ("Mozilla/5.0 (compatible; Bot-x/1)", "bot-x"),
            ("", ""),
            ("*", "*"),
        ],
    )
    def test_product_token(self, header: str, token: str) -> None:
        assert product_token(header) == token


class TestRealFiles:
    @pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b""])
    def test_a_byte_order_mark_is_no_part_of_the_first_line(self, mark: bytes) -> None:
        assert not allowed(mark + b"User-agent: *\nDisallow: /", "/page")

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_utf16(self, encoding: str) -> None:
        assert not allowed("\ufeffUser-agent: *\nDisallow: /".encode(encoding), "/page")

    @pytest.mark.parametrize(
        "line", ["disallow : /x", "DISALLOW:/x", "Disallow /x", "dissalow: /x", "\tDis-allow:\t/x"]
    )
    def test_sloppy_lines_are_understood(self, line: str) -> None:
        assert not rules(line).verdict("b", "/x").allowed

    @pytest.mark.parametrize(
        "line", ["#Disallow: /", "Disallowed!: /", "disallow", "Noindex: /", ": /", "\0Disallow: /", "disallow all /"]
    )
    def test_what_is_no_rule_is_ignored(self, line: str) -> None:
        assert rules(line).verdict("b", "/x").allowed

    def test_markup_around_the_lines_is_dropped(self) -> None:
        robots = Robots.parse("<html><body>User-agent: *<br>\nDisallow: /x<br>\nCrawl-delay: 7<br>\n</body>")
        assert robots.crawl_delay("b") == 7
        assert not robots.verdict("b", "/x").allowed

    def test_an_html_page_has_no_rules(self) -> None:
        page = "<!DOCTYPE html><title>Not found</title><p>Disallow nothing: go on</p>"
        assert Robots.parse(page).verdict("b", "/").allowed

    def test_only_whole_lines_within_the_limit_count(self) -> None:
        filling = b"User-agent: *\n" + b"#" * (MAX_BYTES - 14 - len(b"\nDisallow: /")) + b"\nDisallow: /"
        assert len(filling) == MAX_BYTES
        assert not allowed(filling, "/page")
        assert allowed(filling + b"secret\n", "/page")
        assert allowed(b"User-agent: *\n" + b"\n" * MAX_BYTES + b"Disallow: /\n", "/page")


class TestDirectives:
    def test_a_delay_belongs_to_the_agents_just_before_it(self) -> None:
        robots = Robots.parse(
            "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nCrawl-delay: 2.5\nUser-agent: *\nDisallow: /x"
        )
        assert [robots.crawl_delay(agent) for agent in ("a/1.0", "b", "c")] == [1, 2.5, None]

    def test_of_two_delays_the_longer_counts(self) -> None:
        assert rules("Crawl-delay: 3", "Crawl-delay: 9", "Crawl-delay: 5").crawl_delay("x") == 9

    @pytest.mark.parametrize("value", ["", "x", "-1", "nan", "inf", "1e9", "10a", "1.2.3", "1_0", "9" * 400])
    def test_a_delay_that_is_no_number_is_none(self, value: str) -> None:
        assert rules(f"Crawl-delay: {value}").crawl_delay("x") is None

    def test_a_sentence_is_no_directive(self) -> None:
        robots = Robots.parse(
            "Sitemap is here\nHost of this\nUser-agent: a\nallow us to explain\nUser-agent: b\nDisallow: /"
        )
        assert (robots.sitemaps, robots.host) == ([], None)
        assert not robots.verdict("a", "/").allowed

    def test_an_agent_line_without_a_name_begins_a_group_of_nobody(self) -> None:
        robots = Robots.parse("User-agent: a\nDisallow: /1\nUser-agent:\nDisallow: /2")
        assert [robots.verdict(agent, "/2").allowed for agent in ("a", "", None)] == [True, True, True]
        assert list(robots.as_dict()["rules"]["user_agents"]) == ["a"]

    def test_request_rate_and_visit_time(self) -> None:
        robots = rules("Request-rate: 3/2m 0600-0845", "Visit-time: 0100-0200")
        assert robots.request_rate("x") == (3, 120, "0600", "0845")
        assert robots.visit_time("x") == ("0100", "0200")
        assert rules("Request-rate: 1/0").request_rate("x") is None
        assert rules("Request-rate: 9/30 0600-0845").request_rate("x") == (9, 30, "0600", "0845")
        assert rules(f"Request-rate: 1/1{' ' * 400_000}!").request_rate("x") is None

    def test_sitemaps_and_host_stand_outside_of_groups(self) -> None:
        robots = rules(
            "Sitemap: https://a/1.xml", "Host: www.a", "Disallow: /", "sitemap: /2.xml", "Sitemap: https://a/1.xml"
        )
        assert robots.sitemaps == ["https://a/1.xml", "/2.xml"]
        assert robots.host == "www.a"


class TestResponses:
    @pytest.mark.parametrize("status", [200, 204, 206])
    def test_success_is_read(self, status: int) -> None:
        robots = Robots.from_response(status, b"User-agent: *\nDisallow: /a", fetched_at=FETCHED_AT)
        assert not robots.verdict("b", "/a").allowed
        assert robots.verdict("b", "/b").allowed
        assert not robots.defer

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 499])
    def test_no_file_means_no_rules(self, status: int) -> None:
        robots = Robots.from_response(status, b"User-agent: *\nDisallow: /", fetched_at=FETCHED_AT)
        assert (robots.verdict("b", "/").allowed, robots.availability, robots.defer) == (True, "absent", False)

    @pytest.mark.parametrize("status", [500, 502, 503, 599, None, 0, 301, 308])
    def test_no_answer_means_stay_away(self, status: int | None) -> None:
        robots = Robots.from_response(status, None, fetched_at=FETCHED_AT)
        assert (robots.verdict("b", "/").allowed, robots.availability, robots.defer) == (False, "unreachable", True)

    def test_too_many_requests_is_free_but_asks_to_wait(self) -> None:
        robots = Robots.from_response(429, b"", fetched_at=FETCHED_AT)
        assert robots.verdict("b", "/").allowed
        assert robots.defer

    def test_an_answer_is_kept_for_a_day_and_a_failure_for_an_hour(self) -> None:
        assert Robots.from_response(200, b"", fetched_at=FETCHED_AT).expires_at == FETCHED_AT + timedelta(days=1)
        assert Robots.from_response(404, b"", fetched_at=FETCHED_AT).expires_at == FETCHED_AT + timedelta(days=1)
        assert Robots.from_response(503, b"", fetched_at=FETCHED_AT).expires_at == FETCHED_AT + timedelta(hours=1)


class TestAsDict:
    def test_has_the_shape_of_the_crawl_api(self) -> None:
        body = (
            "User-agent: *\nAllow: /public/\nDisallow: /private/\nDisallow: /admin/\nCrawl-delay: 2\n\n"
            "User-agent: SearchBot\nAllow: /\nDisallow: /internal/\nCrawl-delay: 0.5\n\nSitemap: https://example.com/sitemap.xml"
        )
        shown = Robots.from_response(200, body, fetched_at=FETCHED_AT).as_dict()
        assert shown == {
            "fetched_at": "2024-01-20T00:00:00Z",
            "expires_at": "2024-01-21T00:00:00Z",
            "rules": {
                "user_agents": {
                    "*": {"allow": ["/public/"], "disallow": ["/private/", "/admin/"], "crawl_delay": 2},
                    "SearchBot": {"allow": ["/"], "disallow": ["/internal/"], "crawl_delay": 0.5},
                },
                "sitemaps": ["https://example.com/sitemap.xml"],
            },
        }

    def test_stays_small_when_thousands_of_agents_share_thousands_of_rules(self) -> None:
        body = "".join(f"User-agent:a{n}\n" for n in range(9_000)) + "".join(f"Allow:/{n}\n" for n in range(9_000))
        assert len(json.dumps(Robots.parse(body).as_dict())) < 2 * MAX_BYTES


class TestAddresses:
    def test_robots_url_for(self) -> None:
        assert robots_url_for("HTTPS://user@Example.com:443/a?b#c") == "https://example.com/robots.txt"
        assert robots_url_for("http://example.com:8080/a") == "http://example.com:8080/robots.txt"

    @pytest.mark.parametrize("url", ["", "/a", "mailto:a@b", "http://", "file:///etc/passwd"])
    def test_what_has_no_robots_file(self, url: str) -> None:
        with pytest.raises(InvalidURL):
            robots_url_for(url)


class TestHostileFiles:
    @pytest.mark.parametrize(
        ("lines", "path"),
        [
            (["Disallow: /" + "*a" * 200_000 + "b"], "/" + "a" * 2_000),
            (["Disallow: /" + "*a" * 500 + "b"] * 400, "/" + "a" * 2_000),
            ([f"Disallow: /{'*aab' * 40}{n}" for n in range(2_000)], "/" + "aab" * 600),
            (["Disallow: /" + "a" * n for n in range(900)], "/b"),
            ([f"Disallow: /*{n}" for n in range(20_000)], "/" + "0123456789" * 50),
        ],
        ids=["one long", "many long", "many similar", "nested prefixes", "many short"],
    )
    def test_a_verdict_takes_milliseconds(self, lines: list[str], path: str) -> None:
        robots = rules(*lines)
        robots.verdict("b", path)
        started = time.perf_counter()
        robots.verdict("b", path)
        assert time.perf_counter() - started < 0.1

    @pytest.mark.parametrize("unit", [b"a", b"\n", b"\r", b"\0", b"<", b"Disallow: /x\n", b"User-agent: a\n", b"\xff"])
    def test_ten_megabytes_are_read_in_no_time(self, unit: bytes) -> None:
        body = unit * (10_000_000 // len(unit))
        started = time.perf_counter()
        Robots.parse(body).verdict("a", "/x")
        assert time.perf_counter() - started < 2


def _slow_match(value: str, path: str) -> bool:
    """The rules of RFC 9309 2.2.3 word for word, by a regular expression."""
    anchored = value.endswith("$")
    parts = (value[:-1] if anchored else value).split("*")
    pattern = ".*".join(re.escape(canonical_path(part)) for part in parts) + (r"\Z" if anchored else "")
    return re.match(pattern, path, re.DOTALL) is not None


PATTERNS = st.text(alphabet="/ab*$?.", min_size=1, max_size=8)


class TestAgainstTheRfc:
    @given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=12), st.text(alphabet="/ab?.$", max_size=8))
    @settings(max_examples=400, deadline=None)
    def test_many_rules_at_once_decide_like_one_after_the_other(self, given: list[tuple[bool, str]], rest: str) -> None:
        path = canonical_path("/" + rest)
        matching = [(len(canonical_path(v.replace("*", "a"))), allow) for allow, v in given if _slow_match(v, path)]
        if any("$" in value[:-1] or "?" in value for _, value in given):
            return  # Lengths and spellings of these are a matter of their own.
        robots = rules(*(f"{'Allow' if allow else 'Disallow'}: {value}" for allow, value in given))
        verdict = robots.verdict("x", f"https://example.com{path}")
        assert verdict.allowed == max(matching, default=(0, True))[1]

    @given(st.binary(max_size=300) | st.text(max_size=300), st.text(max_size=30), st.text(max_size=60))
    @settings(max_examples=300, deadline=None)
    def test_never_raises(self, body: bytes | str, agent: str, url: str) -> None:
        robots = Robots.parse(body)
        verdict = robots.verdict(agent, url)
        assert verdict.allowed or verdict.rule
        robots.crawl_delay(agent)
        json.dumps(robots.as_dict())

    @given(
        st.lists(
            st.sampled_from(["User-agent: ", "Disallow: ", "Allow: ", "a", "*", "/", "\n", "$", "%2", "ツ", "#", ":"])
        )
    )
    @settings(max_examples=300, deadline=None)
    def test_a_named_line_holds_the_named_rule(self, parts: list[str]) -> None:
        body = "".join(parts)
        verdict = Robots.parse(body).verdict("a", "/a/ツ")
        if verdict.line is not None and verdict.rule is not None:
            assert verdict.rule.partition(": ")[2] in body.split("\n")[verdict.line - 1]
