"""Real Chromium and a real site: what a page becomes, and what it cannot do."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from crawler.fetch.browser import BrowserUnavailable
from crawler.fetch.outcome import FailureKind, Request, Truncation
from tests.browser import installed
from tests.browser.site import Answer, Site, Visitor, everything, visiting

installed.require()
pytestmark = pytest.mark.xdist_group("browser")

BUILDS_LINKS = """<!doctype html><title>A</title><ul id=list></ul><script>
for (const name of ["one", "two"]) list.innerHTML += `<li><a href="/${name}">${name} ä</a>`;
fetch("/data").then(answer => answer.json()).then(names => names.forEach(name =>
  list.innerHTML += `<li><a href="/${name}">${name}</a>`));
</script>"""


def test_links_made_by_scripts_are_in_the_html(browser: Visitor, site: Site) -> None:
    site.pages = {"/": Answer(BUILDS_LINKS, X_Own="yes"), "/data": Answer('["three"]', Content_Type="application/json")}
    page = browser.page(f"{site.url}/")
    html = page.body.decode()
    assert html.startswith("<!DOCTYPE html>\n<html>")
    assert [name for name in ("one", "two", "three") if f'<a href="/{name}">' in html] == ["one", "two", "three"]
    assert "one ä" in html
    assert page.truncated is None
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert (page.status, page.headers["x-own"], page.address) == (200, "yes", "127.0.0.2")
    assert "content-length" not in page.headers
    assert site.headers["/"]["user-agent"] == "CrawlspaceTest/1.0"
    assert "proxy-authorization" not in site.headers["/"]


def test_error_pages_keep_their_status(browser: Visitor, site: Site) -> None:
    site.pages = {"/": Answer("<p>gone", 410)}
    page = browser.page(f"{site.url}/")
    assert page.status == 410
    assert b"<p>gone</p>" in page.body


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_answers(browser: Visitor, site: Site, status: int) -> None:
    site.pages = {"/": Answer("", status, Location="/next"), "/next": Answer("next")}
    page = browser.page(f"{site.url}/")
    assert (page.status, page.location, page.body) == (status, "/next", b"")
    assert site.asked == ["/"]


def test_a_redirect_inwards_is_only_told(browser: Visitor, site: Site, inner: Site) -> None:
    site.pages = {"/": Answer("", 302, Location=f"{inner.url}/secret")}
    assert browser.page(f"{site.url}/").location == f"{inner.url}/secret"
    assert inner.connections == 0


@pytest.mark.parametrize(
    "leaving",
    [
        '<script>location = "/next"</script>',
        '<script>addEventListener("load", () => location.replace("/next"))</script>',
        '<meta http-equiv=refresh content="0; url=/next">',
        '<a href="/next" id=it></a><script>it.click()</script>',
        '<form action="/next" id=it></form><script>it.submit()</script>',
    ],
)
def test_a_page_that_leaves_is_held_back(browser: Visitor, site: Site, leaving: str) -> None:
    site.pages = {"/": Answer(f"<p>here{leaving}"), "/next": Answer("next")}
    page = browser.page(f"{site.url}/")
    assert page.headers["refresh"].removesuffix("?") == f"0; url={site.url}/next"
    assert b"<p>here" in page.body
    assert "/next" not in site.asked


def test_an_endless_loop_ends_with_the_time(browser: Visitor, site: Site) -> None:
    site.pages = {"/loop": Answer("<p>a<script>for (;;);</script>"), "/": Answer("<p>b")}
    failure = browser.failure(f"{site.url}/loop", timeout_seconds=2.0)
    assert (failure.kind, failure.temporary) == (FailureKind.INCOMPLETE, True)
    assert b"<p>b" in browser.page(f"{site.url}/").body


def test_a_page_that_never_rests_is_taken_as_it_is(browser: Visitor, site: Site) -> None:
    again = 'const again = () => fetch("/poll").finally(again); again()'
    site.pages = {"/": Answer(f'<a href="/found">x</a><script>{again}</script>'), "/poll": Answer("")}
    page = browser.page(f"{site.url}/", timeout_seconds=4.0)
    assert b'href="/found"' in page.body
    assert page.truncated is None


def test_a_huge_page_is_cut(browser: Visitor, site: Site) -> None:
    site.pages = {"/": Answer('<script>document.write("<p>ää</p>".repeat(20000))</script>')}
    page = browser.page(f"{site.url}/", max_body_bytes=50_001)
    assert page.truncated is Truncation.LENGTH
    assert 49_990 < len(page.body) <= 50_001
    assert page.body.decode().count("<p>ää</p>") > 3_000


def test_dialogs_answer_themselves(browser: Visitor, site: Site) -> None:
    asks = "alert(1); const sure = confirm(2); const name = prompt(3); print(); document.write(`${sure} ${name}`)"
    site.pages = {"/": Answer(f"<script>{asks}; onbeforeunload = () => 'stay'</script>")}
    assert b"false null" in browser.page(f"{site.url}/").body


def test_popups_do_not_open(browser: Visitor, site: Site) -> None:
    opens = 'for (let i = 0; i < 20; i++) open("/popup" + i); link.click()'
    site.pages = {"/": Answer(f'<p>here<a id=link target=_blank href="/popup"></a><script>{opens}</script>')}
    assert b"<p>here" in browser.page(f"{site.url}/").body
    assert site.asked == ["/"]


def test_permissions_are_refused(browser: Visitor, site: Site) -> None:
    asks = """Promise.all(["geolocation", "notifications", "camera", "midi"].map(name =>
      navigator.permissions.query({name}).then(answer => answer.state, () => "denied")))
      .then(states => document.body.append(states.join(" ")))"""
    site.pages = {"/": Answer(f"<body><script>{asks}</script>")}
    assert b"granted" not in browser.page(f"{site.url}/").body


def test_what_is_no_page_is_handed_on(browser: Visitor, site: Site) -> None:
    site.pages = {
        "/a.pdf": Answer(b"%PDF\xff" * 10, Content_Type="application/pdf"),
        "/a.json": Answer('{"a": 1}', Content_Type="application/json"),
        "/saved": Answer("<p>saved", Content_Disposition="attachment; filename=a.html"),
        "/empty": Answer("", 204),
    }
    assert browser.page(f"{site.url}/a.pdf").body == b"%PDF\xff" * 10
    assert browser.page(f"{site.url}/a.json").body == b'{"a": 1}'
    assert browser.page(f"{site.url}/saved").body == b"<p>saved"
    assert browser.page(f"{site.url}/empty").status == 204
    cut = browser.page(f"{site.url}/a.pdf", max_body_bytes=7)
    assert (cut.body, cut.truncated) == (b"%PDF\xff%P", Truncation.LENGTH)


def test_downloads_do_not_happen(browser: Visitor, site: Site) -> None:
    loads = (
        'link.click(); const frame = document.createElement("iframe"); frame.src = "/file"; document.body.append(frame)'
    )
    site.pages = {
        "/": Answer(f'<p>here<a id=link download href="/file">x</a><script>{loads}</script>'),
        "/file": Answer(b"x" * 1000, Content_Type="application/octet-stream"),
    }
    assert b"<p>here" in browser.page(f"{site.url}/").body


def test_an_unwanted_body_is_not_read(browser: Visitor, site: Site) -> None:
    site.pages = {"/": Answer('<script src="/script"></script>', X_Own="yes")}
    seen: list[tuple[int, str]] = []

    def wants_body(status: int, headers: Mapping[str, str]) -> bool:
        seen.append((status, headers["x-own"]))
        return False

    page = browser.page(f"{site.url}/", wants_body=wants_body)
    assert (page.status, page.body, page.truncated) == (200, b"", Truncation.UNWANTED)
    assert seen == [(200, "yes")]
    assert site.asked == ["/"]


def test_our_headers_go_with_the_page_only(browser: Visitor, site: Site) -> None:
    site.pages = {"/": Answer('<script src="/script"></script>'), "/script": Answer("", Content_Type="text/javascript")}
    browser.page(f"{site.url}/", headers=(("X-Own", "yes"), ("If-None-Match", '"1"')))
    assert (site.headers["/"]["x-own"], site.headers["/"]["if-none-match"]) == ("yes", '"1"')
    assert "x-own" not in site.headers["/script"]


def test_nothing_changed_is_an_answer(browser: Visitor, site: Site) -> None:
    site.pages = {"/": Answer("", 304, ETag='"1"')}
    page = browser.page(f"{site.url}/", headers=(("If-None-Match", '"1"'),))
    assert (page.status, page.body) == (304, b"")


def test_pages_share_nothing(browser: Visitor, site: Site) -> None:
    keeps = 'document.write(`[${document.cookie}${localStorage.x || ""}]`); localStorage.x = document.cookie = "x=1"'
    site.pages = {"/": Answer(f"<script>{keeps}</script>", Set_Cookie="y=2")}
    browser.page(f"{site.url}/")
    assert b"[y=2]" in browser.page(f"{site.url}/").body
    assert "cookie" not in site.headers["/"]


def test_images_are_loaded_only_on_demand(browser: Visitor, site: Site) -> None:
    site.pages = {
        "/": Answer('<img src="/a.png"><style>@font-face {font-family: f; src: url(/f)} p {font-family: f}</style><p>x')
    }
    browser.page(f"{site.url}/")
    assert site.asked == ["/"]
    with visiting(limits=everything()) as other:
        other.page(f"{site.url}/")
    assert {"/a.png", "/f"} <= set(site.asked)


def test_pages_are_rendered_side_by_side_and_the_rest_wait(browser: Visitor, site: Site) -> None:
    site.pages = {f"/{number}": Answer(f"<p>{number}") for number in range(9)}
    for number in range(9):
        browser.renderer.start(Request(f"{site.url}/{number}"), number)
    assert browser.renderer.in_flight == 9
    assert len(browser.renderer.waiting) == 9 - browser.renderer.max_pages
    found = browser.collect()
    assert sorted(found) == list(range(9))


def test_hosts_that_do_not_answer(browser: Visitor, site: Site, inner: Site) -> None:
    closed = Site("127.0.0.2")
    closed.close()
    assert browser.failure(f"{closed.url}/").kind is FailureKind.CONNECT
    assert browser.failure(f"https{site.url[4:]}/").kind is FailureKind.TLS
    assert browser.failure("http://no-such-name.invalid/").kind is FailureKind.DNS
    guarded = browser.failure(f"{inner.url}/")
    assert (guarded.kind, guarded.temporary) == (FailureKind.GUARD, False)
    assert inner.connections == 0


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "chrome://version", "view-source:http://127.0.0.2/", "about:blank"]
)
def test_only_the_web_is_rendered(browser: Visitor, url: str) -> None:
    assert browser.failure(url).kind is FailureKind.URL


def test_what_is_missing_is_said() -> None:
    with pytest.raises(BrowserUnavailable, match="apt-get install chromium"):
        Visitor(chromium_path="/no/such/chromium")


def test_a_browser_that_does_not_start_fails_the_page(site: Site) -> None:
    with visiting(chromium_path="/bin/false") as visitor:
        failure = visitor.failure(f"{site.url}/")
    assert "does not start" in failure.message
    assert failure.temporary
