"""How the price worker fetches: robots.txt, redirects, one request at a time, and why a page could not be had."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from crawler.integrations.price_worker import Manners, Pages
from crawler.integrations.price_worker.reasons import Stopped, Unfetched
from tests.faults.shop import Answer, Shop, leads_to
from tests.services.servers import free_port


def reason(pages: Pages, url: str) -> str:
    with pytest.raises(Unfetched) as caught:
        pages.get(url)
    return str(caught.value)


def test_a_page_comes_as_it_is(shop: Shop, pages: Pages) -> None:
    url = shop.sells("/shoes", "5.00")
    answer = pages.get(url)
    assert (answer.status, answer.url, b"Shoes" in answer.body) == (200, url, True)
    assert shop.asked == ["/robots.txt", "/shoes"]
    assert {visit.headers["User-Agent"] for visit in shop.visits} == {"PriceTest/1"}


def test_robots_txt_is_asked_for_once_and_its_rule_is_named(shop: Shop, pages: Pages) -> None:
    shop.forbids("User-agent: *", "Disallow: /cart", "Disallow: /p")
    with ThreadPoolExecutor(8) as threads:
        reasons = list(threads.map(lambda number: reason(pages, shop.url(f"/p/{number}")), range(8)))
    assert set(reasons) == {"robots.txt forbids it: Disallow: /p, line 3"}
    assert shop.asked == ["/robots.txt"]


def test_a_robots_txt_that_fails_keeps_us_away(shop: Shop, pages: Pages) -> None:
    shop.answers["/robots.txt"] = Answer(status=500)
    assert reason(pages, shop.url("/shoes")).startswith("robots.txt cannot be read (HTTP 500), so nothing may be")
    assert shop.pages_asked() == []


def test_redirects_are_followed_as_far_as_robots_txt_allows(shop: Shop, pages: Pages) -> None:
    shop.forbids("User-agent: *", "Disallow: /private")
    url = shop.sells("/new", "5.00")
    shop.answers["/old"] = leads_to("/new", 301)
    shop.answers["/closed"] = leads_to("/private/shoes")
    assert pages.get(shop.url("/old")).url == url
    assert reason(pages, shop.url("/closed")) == "robots.txt forbids it: Disallow: /private, line 2"
    assert "/private/shoes" not in shop.asked


def test_a_redirect_to_another_host_asks_its_robots_txt(shop: Shop, pages: Pages) -> None:
    other = Shop("127.0.0.2")
    try:
        other.forbids("User-agent: *", "Disallow: /")
        shop.answers["/out"] = leads_to(other.url("/shoes"))
        assert reason(pages, shop.url("/out")) == "robots.txt forbids it: Disallow: /, line 2"
        assert other.asked == ["/robots.txt"]
    finally:
        other.close()


def test_redirects_end_somewhere(shop: Shop, pages: Pages) -> None:
    shop.answers["/a"], shop.answers["/b"] = leads_to("/b"), leads_to("/a")
    shop.answers |= {f"/{number}": leads_to(f"/{number + 1}") for number in range(10)}
    assert reason(pages, shop.url("/a")) == f"redirects in a circle: {shop.url('/a')}"
    assert reason(pages, shop.url("/0")) == "more than 5 redirects"
    shop.answers["/mail"] = leads_to("mailto:us@shop.example")
    assert reason(pages, shop.url("/mail")).startswith("cannot be fetched: not an http or https URL")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(status=404), "HTTP 404"),
        (Answer(status=410), "HTTP 410"),
        (Answer(status=500), "HTTP 500"),
        (Answer(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}), "not a page: application/pdf"),
        (Answer(b"\x89PNG\r\n\x1a\n", headers={}), "not a page: image/png"),
    ],
)
def test_what_is_no_page_has_its_reason(shop: Shop, pages: Pages, answer: Answer, expected: str) -> None:
    shop.answers["/x"] = answer
    assert reason(pages, shop.url("/x")) == expected


def test_a_page_without_a_type_is_looked_at(shop: Shop, pages: Pages) -> None:
    shop.answers["/x"] = Answer(b"<!DOCTYPE html><title>x</title>", headers={})
    assert pages.get(shop.url("/x")).status == 200


def test_what_takes_too_long_is_given_up(shop: Shop, manners: Manners) -> None:
    shop.held.add("/slow")
    with Pages(replace(manners, timeout_seconds=0.2)) as pages:
        assert reason(pages, shop.url("/slow")) == "timeout after 0.2 s"


def test_what_is_not_public_is_not_asked(shop: Shop, manners: Manners) -> None:
    with Pages(replace(manners, allowed_networks=())) as pages:
        said = reason(pages, shop.url("/x"))
    assert (
        said.startswith("may not be fetched: 127.0.0.1: 127.0.0.1 is not public") and "FETCH_ALLOWED_NETWORKS" in said
    )
    assert shop.asked == []


def test_a_host_that_is_away_has_its_reason(pages: Pages) -> None:
    assert reason(pages, f"http://127.0.0.1:{free_port()}/").startswith("robots.txt: no connection: ")
    assert reason(pages, "ftp://127.0.0.1/x").startswith("cannot be fetched: not an http or https URL")


def test_a_host_is_asked_one_at_a_time_with_its_delay(shop: Shop, manners: Manners) -> None:
    urls = [shop.sells(f"/{number}", "1") for number in range(10)]
    with Pages(replace(manners, delay_seconds=0.05)) as pages, ThreadPoolExecutor(10) as threads:
        assert all(answer.status == 200 for answer in threads.map(pages.get, urls))
    assert len(shop.visits) == 11
    assert min(shop.gaps()) >= 0.045  # two clocks: ours of the day, the shop's monotonic


def test_the_delay_of_robots_txt_holds(shop: Shop, pages: Pages) -> None:
    shop.forbids("User-agent: *", "Crawl-delay: 0.1")
    urls = [shop.sells(f"/{number}", "1") for number in range(3)]
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(pages.get, urls))
    assert min(shop.gaps()) >= 0.095


def test_hosts_do_not_wait_for_each_other(shop: Shop, pages: Pages) -> None:
    other = Shop("127.0.0.2")
    shop.held.add("/slow")
    try:
        with ThreadPoolExecutor(1) as threads:
            slow = threads.submit(pages.get, shop.url("/slow"))
            shop.wait_until_asked("/slow")
            assert pages.get(other.sells("/quick", "1")).status == 200
            assert not slow.done()
            shop.sells("/slow", "2")
            shop.let_go()
            assert slow.result().status == 200
    finally:
        other.close()


def test_a_host_that_asks_for_an_hour_is_left_alone(shop: Shop, pages: Pages) -> None:
    shop.answers["/busy"] = Answer(status=429, headers={"Retry-After": "3600"})
    assert reason(pages, shop.url("/busy")) == "HTTP 429, Retry-After: 3600"
    assert reason(pages, shop.sells("/next", "1")).startswith("the host is left alone until ")
    assert shop.asked == ["/robots.txt", "/busy"]


def test_who_waits_for_a_host_that_pushes_back_is_told(shop: Shop, pages: Pages) -> None:
    shop.answers["/busy"] = Answer(status=503, headers={"Retry-After": "3600"})
    shop.held.add("/busy")
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(reason, pages, shop.url("/busy"))
        shop.wait_until_asked("/busy")
        others = [threads.submit(reason, pages, shop.url(f"/{number}")) for number in range(3)]
        shop.let_go()
        assert first.result() == "HTTP 503, Retry-After: 3600"
        assert {other.result().partition(" until ")[0] for other in others} == {"the host is left alone"}
    assert shop.pages_asked() == ["/busy"]


def test_stop_ends_what_was_not_begun_and_lets_the_rest_finish(shop: Shop, pages: Pages) -> None:
    shop.sells("/slow", "1")
    shop.held.add("/slow")
    with ThreadPoolExecutor(4) as threads:
        begun = threads.submit(pages.get, shop.url("/slow"))
        shop.wait_until_asked("/slow")
        waiting = [threads.submit(pages.get, shop.url(f"/{number}")) for number in range(3)]
        pages.stop()
        assert {type(one.exception()) for one in waiting} == {Stopped}
        shop.let_go()
        assert begun.result().status == 200
    with pytest.raises(Stopped):
        pages.get(shop.url("/late"))
    assert shop.pages_asked() == ["/slow"]


def test_leaving_ends_everything(shop: Shop, manners: Manners) -> None:
    shop.held.add("/slow")
    with ThreadPoolExecutor(1) as threads:
        with Pages(manners) as pages:
            begun = threads.submit(pages.get, shop.url("/slow"))
            shop.wait_until_asked("/slow")
        assert isinstance(begun.exception(), Stopped)
    with pytest.raises(Stopped):
        pages.get(shop.url("/late"))
