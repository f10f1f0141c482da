import pytest

from crawler.fetch.origins import FETCHABLE, Origin, Origins, origin_of, proxy_of
from crawler.fetch.outcome import Failure, FailureKind


@pytest.mark.parametrize(
    ("url", "host", "port", "authority"),
    [
        ("http://example.org/a", "example.org", 80, "example.org"),
        ("https://example.org", "example.org", 443, "example.org"),
        ("https://example.org:8443/a?b#c", "example.org", 8443, "example.org:8443"),
        ("http://example.org:80/", "example.org", 80, "example.org"),
        ("http://example.org?a=/b", "example.org", 80, "example.org"),
        ("http://example.org#a", "example.org", 80, "example.org"),
        ("http://[2001:db8::1]:81/", "[2001:db8::1]", 81, "[2001:db8::1]:81"),
        ("http://a_b.example.org./", "a_b.example.org.", 80, "a_b.example.org."),
    ],
)
def test_servers_are_read_off_urls(url: str, host: str, port: int, authority: str) -> None:
    origin = Origins().of(url)
    assert isinstance(origin, Origin)
    assert (origin.host, origin.port, origin.authority) == (host, port, authority)


@pytest.mark.parametrize(
    "url",
    [
        "", "/path", "example.org", "ftp://example.org/", "file:///etc/passwd", "http:///a", "http://", "http:/a/b",
        "http://user@example.org/", "http://user:secret@example.org/", "http://example.org:0/", "http://a:99999/",
        "http://exa mple.org/", "http://example.org\\@evil.test/", "http://\u00e9.org/", "http://[::1/", "http://a:b/",
        "http://example.org:80:81/", "http://EXAMPLE.org/", "http://a\x00b/",
    ],
)  # fmt: skip
def test_what_cannot_be_fetched(url: str) -> None:
    origin = Origins().of(url)
    assert isinstance(origin, Failure)
    assert (origin.kind, origin.temporary) == (FailureKind.URL, False)


@pytest.mark.parametrize("host", ["a" * 64 + ".org", "a..b", ".a", ".".join(["a" * 60] * 5), "."])
def test_names_no_resolver_could_answer(host: str) -> None:
    origin = Origins().of(f"http://{host}/")
    assert isinstance(origin, Failure)
    assert origin.kind is FailureKind.DNS


def test_a_server_is_read_once() -> None:
    origins = Origins()
    assert origins.of("http://example.org/a") is origins.of("http://example.org/b?c")
    assert origins.of("http://example.org/a") is origins.of("http://example.org")
    assert origins.of("http://example.org/a") is not origins.of("https://example.org/a")


def test_a_path_does_not_pass_for_a_server() -> None:
    """The beginning of a URL is the key of the memory: no other URL may begin like it and mean another server."""
    origins = Origins()
    for url in ("http://a.test", "http://a.test/", "http://a.test?/", "http://a.test#/"):
        origins.of(url)
    assert set(origins.by_prefix) == {"http://a.test"}


def test_pins() -> None:
    origin = origin_of("http://example.org/", FETCHABLE)
    assert isinstance(origin, Origin)
    origin.pin(("192.0.2.1", "2001:db8::1"), until=5.0)
    assert origin.pins == ["+example.org:80:192.0.2.1,[2001:db8::1]"]
    assert (origin.address, origin.pinned_until) == ("192.0.2.1", 5.0)
    before = origin.pins
    origin.pin(("192.0.2.1", "2001:db8::1"), until=6.0)
    assert origin.pins is before


def test_addresses_need_no_pins() -> None:
    for url, address in (("http://192.0.2.1/", "192.0.2.1"), ("http://[2001:db8::1]/", "2001:db8::1")):
        origin = origin_of(url, FETCHABLE)
        assert isinstance(origin, Origin)
        origin.pin((address,), until=5.0)
        assert origin.pins == []


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("http://proxy.test:3128", ("proxy.test", 3128)),
        ("proxy.test:3128", ("proxy.test", 3128)),
        ("http://user:p@ss@Proxy.test:3128/", ("proxy.test", 3128)),
        ("socks5h://10.0.0.1", ("10.0.0.1", 1080)),
    ],
)
def test_proxies(url: str, server: tuple[str, int]) -> None:
    proxy = proxy_of(url)
    assert isinstance(proxy, Origin)
    assert (proxy.host, proxy.port) == server


@pytest.mark.parametrize("url", ["", "ftp://proxy.test", "http://a b"])
def test_what_is_no_proxy(url: str) -> None:
    assert isinstance(proxy_of(url), Failure)
