"""Whatever a page tries, nothing reaches an address that the guard refuses."""

from __future__ import annotations

import pytest

from tests.browser import installed
from tests.browser.site import Answer, Listener, Site, Visitor, everything, visiting

installed.require()
pytestmark = pytest.mark.xdist_group("browser")

# PORT and UDP stand for ports of the forbidden address.
HOSTILE = """<!doctype html><body>
<link rel=dns-prefetch href="//localhost:PORT/"><link rel=preconnect href="http://127.0.0.1:PORT/">
<link rel=prefetch href="http://127.0.0.1:PORT/prefetch"><link rel=preload as=fetch href="http://127.0.0.1:PORT/preload">
<link rel=stylesheet href="http://127.0.0.1:PORT/style"><link rel=icon href="http://127.0.0.1:PORT/icon">
<link rel=manifest href="http://127.0.0.1:PORT/manifest"><script src="http://127.0.0.1:PORT/script"></script>
<script type=speculationrules>
{"prerender": [{"urls": ["http://127.0.0.1:PORT/speculative"], "eagerness": "immediate"}]}</script>
<img src="http://127.0.0.1:PORT/image"><img src="http://localhost:PORT/name"><img src="http://2130706433:PORT/decimal">
<img src="http://0x7f.1:PORT/hex"><img src="http://[::ffff:127.0.0.1]:PORT/mapped"><img src="http://127.1:PORT/short">
<img src="/redirected"><img src="http://a.localhost:PORT/sub"><img src="http://0.0.0.0:PORT/any">
<iframe src="http://127.0.0.1:PORT/frame"></iframe><iframe src="/redirected"></iframe>
<iframe src="file:///etc/passwd"></iframe><iframe src="view-source:http://127.0.0.1:PORT/"></iframe>
<object data="http://127.0.0.1:PORT/object"></object><embed src="http://127.0.0.1:PORT/embed">
<video src="http://127.0.0.1:PORT/video"></video><form id=form method=post target=inside action="http://127.0.0.1:PORT/form">
</form><iframe name=inside></iframe>
<script>
const said = word => document.body.append(word + ";"), at = "http://127.0.0.1:PORT";
form.submit();
const tries = [
  fetch(at + "/fetch", {mode: "no-cors"}), fetch("http://localhost:PORT/fetch", {mode: "no-cors"}),
  fetch("/redirected"),
  new Promise((ok, no) => { const s = new WebSocket("ws://127.0.0.1:PORT/socket"); s.onopen = ok; s.onerror = no; }),
  new Promise((ok, no) => { const s = new EventSource(at + "/events"); s.onopen = ok; s.onerror = no; }),
  new Promise((ok, no) => {
    const source = `fetch("${at}/worker", {mode: "no-cors"}).then(() => postMessage(1), () => postMessage(0))`;
    new Worker(URL.createObjectURL(new Blob([source]))).onmessage = event => event.data ? ok() : no(); }),
];
navigator.sendBeacon(at + "/beacon");
try { new WebTransport("https://127.0.0.1:UDP/").ready.catch(() => 0) } catch {}
const rtc = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:UDP"},
  {urls: "turn:127.0.0.1:PORT?transport=tcp", username: "a", credential: "b"}]});
rtc.createDataChannel("x"); rtc.createOffer().then(offer => rtc.setLocalDescription(offer));
if (navigator.serviceWorker) navigator.serviceWorker.register("/worker.js").catch(() => 0);
Promise.allSettled(tries).then(all => said("got " + all.filter(one => one.status == "fulfilled").length));
</script>"""
WORKER = 'fetch("http://127.0.0.1:PORT/service", {mode: "no-cors"}); onfetch = () => 0;'


def set_the_trap(site: Site, inner: Site, udp: Listener) -> None:
    def aimed(text: str) -> str:
        return text.replace("PORT", inner.url.rpartition(":")[2]).replace("UDP", str(udp.port))

    site.pages = {
        "/": Answer(aimed(HOSTILE)),
        "/redirected": Answer("", 302, Location=f"{inner.url}/redirected"),
        "/worker.js": Answer(aimed(WORKER), Content_Type="text/javascript"),
    }


def test_a_hostile_page_reaches_nothing(site: Site, inner: Site, udp: Listener) -> None:
    set_the_trap(site, inner, udp)
    with visiting(limits=everything()) as visitor:
        page = visitor.page(f"{site.url}/")
    assert b"got 0;" in page.body
    assert b"root:" not in page.body
    assert inner.asked == []
    assert inner.connections == 0
    assert not udp.heard()


def test_the_same_page_reaches_all_that_is_allowed(site: Site, inner: Site, udp: Listener) -> None:
    """Proof that the page above really tries. UDP goes nowhere even then: no proxy could judge it."""
    set_the_trap(site, inner, udp)
    with visiting(allowed="127.0.0.0/8 ::1/128", limits=everything()) as visitor:
        visitor.page(f"{site.url}/")
    assert {"/image", "/fetch", "/frame", "/socket", "/worker", "/redirected", "/name", "/decimal"} <= set(inner.asked)
    assert not udp.heard()


def test_no_server_learns_the_credential(browser: Visitor, site: Site) -> None:
    site.pages = {
        "/server": Answer("<p>who", 401, WWW_Authenticate='Basic realm="crawlspace"'),
        "/proxy": Answer("<p>who", 407, Proxy_Authenticate='Basic realm="crawlspace"'),
    }
    for path, status in (("/server", 401), ("/proxy", 407)):
        page = browser.page(f"{site.url}{path}")
        assert (page.status, page.body) == (status, b"<p>who")
    for headers in site.headers.values():
        assert not {"authorization", "proxy-authorization"} & set(headers)
