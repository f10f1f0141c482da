"""Traps by the form of their URLs: what is refused, and what real sites do that must not be."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import pytest

from crawler.engine.refusals import Reason
from crawler.engine.traps import HostNames, TrapCounters, TrapLimits, shape_refusal

NOW = datetime(2026, 11, 15, tzinfo=UTC).timestamp()
SITE = "https://site.example"


def refusals(urls: Iterable[str], limits: TrapLimits | None = None) -> list[tuple[str, Reason]]:
    limits = limits or TrapLimits()
    counters = TrapCounters(limits)
    judged = ((url, shape_refusal(url, NOW, limits) or counters.refusal(url)) for url in urls)
    return [(url, refusal.reason) for url, refusal in judged if refusal]


def shape(path: str) -> Reason | None:
    refusal = shape_refusal(SITE + path, NOW)
    return refusal.reason if refusal else None


@pytest.mark.parametrize(
    "path",
    [
        "/a/b/a/b/a/b",
        "/x/x/x/x",
        "/shop/x/x/x/x/y.html",
        "/en/a/b/c/a/b/c/a/b/c/d",
        "/css/a/css/b/css/c/css/d/css/e/css/f",
        "/go/http://site.example/go/http://site.example/go/http://site.example/",
        "/a//////b",
    ],
)
def test_repeating_paths(path: str) -> None:
    assert shape(path) == Reason.REPEATING_PATH


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/?q=1",
        "/a/a/a/b",
        "/tiles/0/0/0/0.png",
        "/tiles/0/0/0/0/0/0/0",
        "/tiles/1/2/1/2/1/2",
        "/a/b/a/b/c",
        "/en/docs/en/guide/en/x",
        "/java.base/java/util/concurrent/java.base/java/util",
        "/web/2019/https://other.example/path//double",
        "/pool/main/g/gcc/g/gcc/lib",
    ],
)
def test_paths_that_repeat_a_little(path: str) -> None:
    assert shape(path) is None


def test_length_and_depth_of_paths() -> None:
    assert shape("/" + "a" * 2_000) == Reason.URL_TOO_LONG
    assert shape("/" + "a" * 1_900) is None
    assert shape("".join(f"/s{number}" for number in range(41))) == Reason.PATH_DEPTH
    assert shape("".join(f"/s{number}" for number in range(40))) is None


@pytest.mark.parametrize(
    "path",
    [
        "/x?date=2187-01",
        "/x?date=2187-01-05&view=month",
        "/x?startDate=21870105",
        "/x?from=2187-01-01&to=2187-02-01",
        "/x?ym=218701",
        "/x?m=203105",
        "/x?date=2187%2F01%2F01",
        "/x?year=2050&month=5",
        "/x?date=0001-01-01",
        "/x?month=13000",
        "/calendar/2031/05",
        "/calendar/2031/05/21/",
        "/events/2031-05",
        "/events/month/2031-05/",
        "/our-calendar/2187-01-01/list",
        "/calendar?year=2187",
        "/calendar/1066/10/14",
    ],
)
def test_dates_that_no_calendar_reaches(path: str) -> None:
    assert shape(path) == Reason.CALENDAR


@pytest.mark.parametrize(
    "path",
    [
        "/calendar/2027/05",
        "/calendar/2029/12/31",
        "/events/1999-05",
        "/2031/05/a-title",
        "/wiki/1066",
        "/event/2187",
        "/event/2187/3",
        "/events/2050/speakers",
        "/climate?year=2050",
        "/climate?year=2050&scenario=rcp85",
        "/1865/04/15/archives/news.html",
        "/archive?date=1865-04-15",
        "/parts/2050/12/9",
        "/search?from=20500101",
        "/list?start=3000",
        "/list?start=203012",
        "/x?date=soon",
        "/x?update=2187",
        "/x?month=2",
        "/x?month=-3",
        "/calculator/2050/12",
    ],
)
def test_dates_and_numbers_of_real_sites(path: str) -> None:
    assert shape(path) is None


def blog() -> Iterator[str]:
    for year, month in itertools.product(range(2006, 2027), range(1, 13)):
        yield f"{SITE}/{year}/{month:02}/"
        for day in range(1, 29):
            yield f"{SITE}/{year}/{month:02}/{day:02}/"
            yield f"{SITE}/{year}/{month:02}/{day:02}/a-title-of-{day}-words"


def shop() -> Iterator[str]:
    for product in range(20_000):
        yield f"{SITE}/product/{product}"
        yield f"{SITE}/p/brand-name-article-{product}.html?variant={product % 7}&color=c{product % 5}"
    for category, page in itertools.product(range(60), range(1, 80)):
        yield f"{SITE}/list?cat={category}&page={page}"
    for page in range(3_000):
        yield f"{SITE}/all?page={page}"
        yield f"{SITE}/all/page/{page}"


def forum() -> Iterator[str]:
    for topic in range(20_000):
        yield f"{SITE}/viewtopic.php?f={topic % 40}&t={topic}"
        yield f"{SITE}/viewtopic.php?f={topic % 40}&start={topic % 5 * 20}&t={topic // 5}"
    for board, page in itertools.product(range(40), range(120)):
        yield f"{SITE}/viewforum.php?f={board}&start={page * 25}"


def wiki() -> Iterator[str]:
    for number in range(60_000):
        yield f"{SITE}/wiki/Article_{number:x}_of_many"
    for number in range(10_000):
        yield f"{SITE}/w/index.php?title=Article_{number:x}&oldid={number * 17}&diff=prev"


def news_and_others() -> Iterator[str]:
    for number in range(40_000):
        yield f"{SITE}/story/{number:08}/title-{number}"
        yield f"{SITE}/index.php?option=com_content&view=article&id={number}"
    for number in range(365 * 5):
        yield f"{SITE}/events/{2020 + number // 365}-{number % 12 + 1:02}-{number % 28 + 1:02}/name-of-event-{number}"
    for year, month in itertools.product(range(2006, 2028), range(1, 13)):
        yield f"{SITE}/events/{year}/{month:02}"
        yield f"{SITE}/calendar?month={month}&year={year}"
    for number in range(500):
        yield f"{SITE}/program?session_id={number}"
        yield f"{SITE}/comments?sid={number}"


@pytest.mark.parametrize("site", [blog, shop, forum, wiki, news_and_others])
def test_real_sites_are_not_refused(site: object) -> None:
    assert callable(site)
    assert refusals(dict.fromkeys(site())) == []


def test_a_template_has_a_budget() -> None:
    limits = TrapLimits(template_urls=100)
    urls = [f"{SITE}/a/{number}/b" for number in range(200)] + [f"{SITE}/other/{number}" for number in range(50)]
    found = refusals(urls, limits)
    assert found == [(url, Reason.PATH_TEMPLATE) for url in urls[100:200]]


@pytest.mark.parametrize(
    "paths",
    [
        [f"/x/{number:032x}" for number in range(9)],
        [f"/x/{number}f2c8a1e-33fa-4b1c-9d00-0123456789a{number}" for number in range(9)],
        [f"/x/dQw4w9WgXc{number}" for number in range(9)],
        [f"/2019/05/{number}" for number in range(9)],
        [f"/t{number}/page{number}.html" for number in range(9)],
        [f"/search?q={word}" for word in ("red", "blue", "green", "grey", "black", "white", "pink", "sand", "rose")],
    ],
)
def test_what_a_template_takes_out(paths: list[str]) -> None:
    assert len(refusals([SITE + path for path in paths], TrapLimits(template_urls=3))) == 6


def test_literal_paths_have_no_template() -> None:
    assert refusals([f"{SITE}/wiki/{a}{b}" for a in "abcdefgh" for b in "ijklm"], TrapLimits(template_urls=1)) == []


def test_random_session_ids_leave_each_page_once() -> None:
    pages = [f"{SITE}/page{number};jsessionid=%s?id=1" for number in range(20)]
    urls = [page % f"{session:032X}" for session in range(50) for page in pages]
    admitted = set(urls) - {url for url, _ in refusals(urls)}
    assert admitted == set(urls[:20])


@pytest.mark.parametrize(
    "form",
    [
        "/page;jsessionid={}",
        "/page;JSESSIONID={}?x=1",
        "/(S({}))/page.aspx",
        "/(A({0})S({0}))/page.aspx",
        "/page?PHPSESSID={}",
        "/page?a=1&PHPSESSID={}&b=2",
        "/page?sid={}",
        "/page?x=1&sessionid={}",
        "/page?s={}",
        "/page?osCsid={}",
        "/page?CFID=1&CFTOKEN={}",
    ],
)
def test_session_ids_are_known(form: str) -> None:
    tokens = [f"{number * 7919:031x}f" for number in range(5)]
    found = refusals([SITE + form.format(token) for token in tokens])
    assert [reason for _, reason in found] == [Reason.SESSION_ID] * 4


def test_pages_with_session_ids_are_bounded() -> None:
    urls = [f"{SITE}/p-{number};jsessionid=1" for number in range(20)]
    assert len(refusals(urls, TrapLimits(session_pages=5))) == 15


def test_facets_are_bounded_and_scripts_are_not() -> None:
    facets = [
        f"{SITE}/shoes?brand={a}&color={b}&size={c}&page={page}"
        for a, b, c, page in itertools.product(range(10), range(10), range(10), range(5))
    ]
    found = refusals(facets)
    assert len(facets) - len(found) == TrapLimits().query_variations
    assert {reason for _, reason in found} == {Reason.QUERY_VARIATIONS}
    assert refusals(f"{SITE}/show?lang=en&id={number}" for number in range(5_000)) == []


def test_memory_is_bounded_and_errs_to_the_generous_side() -> None:
    limits = TrapLimits(template_urls=500, remembered_templates=64)
    counters = TrapCounters(limits)
    rare = [
        f"{SITE}/rare-{'abcdefgh'[n % 8]}{'ijklmnop'[n // 8 % 8]}{'qrstuvwx'[n // 64 % 8]}/{n}" for n in range(5_000)
    ]
    frequent = [f"{SITE}/trap/{number}" for number in range(5_000)]
    refused = [url for pair in zip(rare, frequent, strict=True) for url in pair if counters.refusal(url)]
    assert all("/trap/" in url for url in refused)
    assert 500 <= len(frequent) - len(refused) <= 500 + 2 * 10_000 // 64
    assert all(len(table) <= 64 for table in counters.as_dict().values())


def test_counters_survive_a_restart() -> None:
    limits = TrapLimits(template_urls=300, query_variations=150, session_pages=40)
    urls = [f"{SITE}/a/{number % 400}" for number in range(500)]
    urls += [f"{SITE}/f?a={number % 9}&b={number % 11}&c={number % 7}" for number in range(400)]
    urls += [f"{SITE}/s{number % 60};jsessionid={number}" for number in range(100)]
    urls += [f"{SITE}/cal?month={number}" for number in range(100)]
    whole, parts = TrapCounters(limits), TrapCounters(limits)
    for number, url in enumerate(urls):
        if number % 97 == 0:
            parts = TrapCounters.from_dict(json.loads(json.dumps(parts.as_dict())), limits)
        assert parts.refusal(url) == whole.refusal(url)
    assert parts.as_dict() == whole.as_dict() == pickle.loads(pickle.dumps(whole)).as_dict()


def test_long_keys_are_kept_short() -> None:
    counters = TrapCounters()
    counters.refusal(f"{SITE}/{'a-' * 600}1")
    assert all(len(key) <= 200 for key in counters.as_dict()["templates"])


def test_host_names_of_a_site_are_bounded() -> None:
    limits = TrapLimits(hosts_of_site=10)
    names = HostNames(limits)
    found = [names.refusal(f"h{number}.wild.example.com") for number in range(30)]
    assert [bool(refusal) for refusal in found] == [False] * 10 + [True] * 20
    assert names.refusal("h3.wild.example.com") is None
    assert not any(names.refusal(f"blog{number}.github.io") for number in range(30))
    assert not any(names.refusal(f"10.0.0.{number}") for number in range(30))
    assert not any(names.refusal(f"localhost:{9000 + number}") for number in range(30))
    again = HostNames.from_dict(json.loads(json.dumps(names.as_dict())), limits)
    assert again.refusal("h29.wild.example.com") is not None
    assert again.as_dict() == names.as_dict()


def test_host_names_are_remembered_in_bounds() -> None:
    names = HostNames(TrapLimits(hosts_of_site=10, remembered_hosts=100))
    for number in range(9):
        names.refusal(f"h{number}.wild.com")
    for number in range(1_000):
        assert names.refusal(f"site{number}.com") is None
    assert sum(map(len, names.as_dict().values())) <= 100
    assert len(names.as_dict()["wild.com"]) == 9
