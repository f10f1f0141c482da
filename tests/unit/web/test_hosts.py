"""The name of a domain: the table of the domain design, its edges, and that naming twice changes nothing."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.web.hosts import ascii_host, canonical_domain, registrable_domain
from crawler.web.urls import InvalidURL, normalize
from tests.unit.web.test_urls import texts, web_urls


@pytest.mark.parametrize(
    ("given_as", "domain"),
    [
        # The table: scheme, www, default port, case, root dot, IDN.
        ("https://example.com", "example.com"),
        ("HTTPS://example.com/a?b#c", "example.com"),
        ("www.example.com", "example.com"),
        ("example.com:443", "example.com"),
        ("example.com:80", "example.com"),
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("m\u00fcnchen.de", "xn--mnchen-3ya.de"),
        ("WWW.M\u00dcNCHEN.DE.:443/x", "xn--mnchen-3ya.de"),
        ("blog.example.com", "blog.example.com"),
        # Other ports are other entries, whatever the scheme.
        ("example.com:8080", "example.com:8080"),
        ("http://www.example.com:8080/x", "example.com:8080"),
        ("http://example.com:443/", "example.com"),
        ("https://example.com:80/", "example.com"),
        ("example.com:00443", "example.com"),
        ("example.com:", "example.com"),
        # www of what is no site of its own.
        ("www.com", "www.com"),
        ("www.co.uk", "www.co.uk"),
        ("www.www.co.uk", "www.co.uk"),
        ("www.www.example.com", "example.com"),
        ("www.github.io", "github.io"),
        ("www", "www"),
        ("www.", "www"),
        ("www.localhost", "localhost"),
        ("www2.example.com", "www2.example.com"),
        ("wwwexample.com", "wwwexample.com"),
        # Names of one label, addresses.
        ("localhost:8000", "localhost:8000"),
        ("192.168.0.1:80", "192.168.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("[::1]:80", "[::1]"),
        ("http://[2001:DB8::0:1]:8080/", "[2001:db8::1]:8080"),
        ("2001:db8::1", "[2001:db8::1]"),
        # What else may stand around a host.
        ("https://user:secret@www.example.com/x", "example.com"),
        ("https://user@example.com:8443", "example.com:8443"),
        ("//example.com/x", "example.com"),
        ("http:/example.com/x", "example.com"),
        ("example.com/a:b@c", "example.com"),
        ("example.com?u=http://other.example", "example.com"),
        ("  example.com\n", "example.com"),
        ("exa%6Dple.com", "example.com"),
        ("ex\u3002ample\uff0ecom", "ex.ample.com"),
        ("a_b.example.com", "a_b.example.com"),
    ],
)
def test_canonical_domain(given_as: str, domain: str) -> None:
    assert canonical_domain(given_as) == domain
    assert canonical_domain(domain) == domain


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "/path",
            "\\path",
            "?q",
            "#f",
            "http://",
            "//",
            ":80",
            "@",
            "a@b.com",
            "a b.com",
            "a:b",
            "example.com:99999",
        ),
        *("ftp://example.com", "mailto:a@example.com", "file:///x", "[::1", "::g", "1.2.3.256", "fe80::1%eth0"),
        *("a\x00b", "\ud800.com", "xn--\u00e4.com", "a<b.com", "a" * 2_000, "\u4e00" * 100_000),
    ],
)
def test_what_has_no_host_is_invalid(text: str) -> None:
    with pytest.raises(InvalidURL):
        canonical_domain(text)


@pytest.mark.parametrize(
    ("given_as", "domain"),
    [
        ("https://blog.example.com/x", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("blog.example.com:8080", "example.com:8080"),
        ("user.github.io", "user.github.io"),
        ("github.io", "github.io"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]:8080", "[::1]:8080"),
        ("www.b\u00fccher.\u516c\u53f8.cn", "xn--bcher-kva.xn--55qx5d.cn"),
    ],
)
def test_canonical_domain_reduced_to_what_is_registered(given_as: str, domain: str) -> None:
    assert canonical_domain(given_as, registrable=True) == domain
    assert canonical_domain(domain, registrable=True) == domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("WWW.Example.Co.Uk", "example.co.uk"),
        ("example.com.", "example.com"),
        ("blog.example.com:8080", "example.com"),
        ("www.b\u00fccher.de", "b\u00fccher.de"),
        ("www\u3002b\u00fccher\u3002de", "b\u00fccher.de"),
        ("a.b.unlisted", "b.unlisted"),
        ("co.uk", None),
        ("localhost", None),
        ("", None),
        (".", None),
        (".example.com", None),
        ("a..com", None),
        ("192.168.0.1", None),
        ("0x7f.0.0.1", None),
        ("1.0x7f", None),
        ("[::1]", None),
        ("[::1]:80", None),
        ("2001:db8::1", None),
        ("https://example.com", None),
        ("a b.com", None),
        ("ex%61mple.com", None),
        ("a.com" * 100, None),
    ],
)
def test_registrable_domain(host: str, domain: str | None) -> None:
    assert registrable_domain(host) == domain


def test_suffixes_of_companies_can_be_ignored() -> None:
    assert registrable_domain("a.b.github.io") == "b.github.io"
    assert registrable_domain("a.b.github.io", icann_only=True) == "github.io"


def test_ascii_host() -> None:
    assert ascii_host("stra\u00dfe.DE") == "xn--strae-oqa.de"
    for text in ("", "a/b", "a:80", "u@a", "a?", "a#", "a%41", "a\\b", "a\tb", "[::1]x"):
        with pytest.raises(InvalidURL):
            ascii_host(text)


@settings(max_examples=400, deadline=None)
@given(web_urls)
@example("http://www.www.")
@example("http://www..com")
@example("http://1.2.3.4..")
def test_every_url_with_an_identity_has_a_domain(url: str) -> None:
    try:
        normal = normalize(url)
    except InvalidURL:
        return
    domain = canonical_domain(url)
    assert domain == canonical_domain(normal)
    assert domain.isascii() and domain == domain.lower()


@settings(max_examples=400, deadline=None)
@given(texts | st.text(max_size=20), st.booleans())
def test_naming_twice_changes_nothing(text: str, registrable: bool) -> None:
    try:
        domain = canonical_domain(text, registrable=registrable)
    except InvalidURL:
        return
    assert canonical_domain(domain, registrable=registrable) == domain
    assert canonical_domain(f"https://{domain}/", registrable=registrable) == domain


@settings(max_examples=400, deadline=None)
@given(texts | st.text(max_size=20))
def test_a_registrable_domain_is_its_own(host: str) -> None:
    found = registrable_domain(host)
    assert found is None or registrable_domain(found) == found
