"""Hosts and domains: the name under which a site is remembered.

``canonical_domain`` is the identity of a domain entry: ASCII, lower case, without scheme, user information, ``www.``,
root dot and the ports 80 and 443. A host on another port is another entry (``example.com:8080``); IPv6 addresses stand
in brackets. It is idempotent, and every URL that ``urls.normalize`` accepts has one.

Both default ports go with either scheme: the scheme is no part of the identity, and a bare ``example.com:443`` does not
say which it had. ``www.`` stays where the rest is a public suffix that the registries run and hence no site of its own
(``www.com``, ``www.co.uk``); it goes below suffixes of companies (``www.github.io``), who keep that name to themselves.

Public suffixes come from the list bundled with publicsuffixlist, read once on first use; nothing is downloaded.
"""

import re
from functools import cache, lru_cache
from ipaddress import AddressValueError, IPv6Address
from typing import Final

from publicsuffixlist import PublicSuffixList

from crawler.web.urls import InvalidURL, URLParts, parse
from crawler.web.urls.parsing import crawlable, quoted

_NAMES_REMEMBERED: Final = 8192
_LONGEST_NAME: Final = 255
_ICANN_ONLY: Final = True
_DEFAULT_PORTS: Final = frozenset({None, 80, 443})
_C0_AND_SPACE: Final = "".join(map(chr, range(0x21)))

# A URL or a bare host that needs no parser but for the host: no user information, no address in brackets.
_plain_host: Final = re.compile(
    rf"(?:[Hh][Tt][Tt][Pp][Ss]?://)?([^\x00-\x20/\\?\#@:\[\]\x7f]{{1,{_LONGEST_NAME}}}+(?::[0-9]{{1,5}})?)(?:[/?\#].*)?",
    re.DOTALL,
).fullmatch
_has_scheme: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[/\\]").match
_starts_with_host: Final = re.compile(r"[^/\\?#@]++(?!@)").match
_delimits_host: Final = re.compile(r"[\x00-\x20#%/:?@\\]").search
_port: Final = re.compile(r":[0-9]*\Z").sub
_foreign_dot: Final = re.compile("[\u3002\uff0e\uff61]").sub


def canonical_domain(url_or_host: str, *, registrable: bool = False) -> str:
    """The name under which the domain of a URL, or a bare host, is remembered. Raises InvalidURL.

    With ``registrable`` the host is reduced to its public suffix and one label more, if it has that many; a port that
    is no default stays.
    """
    match = _plain_host(url_or_host)
    if match:
        return _domain_of_plain_host(match[1], registrable)
    return _domain(parse(crawlable(_as_url(url_or_host))), registrable)


def registrable_domain(host: str, *, icann_only: bool = False) -> str | None:
    """The host's public suffix and one label more; None for addresses, malformed names and public suffixes themselves.

    An international name comes back in the script it was given in, lower-cased. A port is ignored. With ``icann_only``
    suffixes that companies run (``github.io``) count as ordinary names.
    """
    return _registrable(host, icann_only) if len(host) <= _LONGEST_NAME else None


def ascii_host(host: str) -> str:
    """A bare host as URLs carry it: UTS 46 to ASCII by the WHATWG profile, IPv4 in its one form. Raises InvalidURL."""
    if _delimits_host(host):
        raise InvalidURL(f"not a host: {quoted(host)}")
    return parse(crawlable(f"https://{host}/")).host


def _as_url(url_or_host: str) -> str:
    text = url_or_host.strip(_C0_AND_SPACE)
    if _has_scheme(text):
        return text
    if _is_bare_ipv6(text):
        return f"http://[{text}]"
    if text.startswith("//"):
        return f"http:{text}"
    if not _starts_with_host(text):  # a path, or an e-mail address, is no host
        raise InvalidURL(f"not a host: {quoted(text)}")
    return f"http://{text}"


def _is_bare_ipv6(text: str) -> bool:
    if text.count(":") < 2 or len(text) > _LONGEST_NAME:
        return False
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


@lru_cache(_NAMES_REMEMBERED)
def _domain_of_plain_host(host: str, registrable: bool) -> str:
    return _domain(parse(f"http://{host}/"), registrable)


def _domain(url: URLParts, registrable: bool) -> str:
    name = _without_root_dot(url.host)
    if registrable:
        name = registrable_domain(name) or name
    name = _without_www(name)
    return name if url.port in _DEFAULT_PORTS else f"{name}:{url.port}"


def _without_root_dot(host: str) -> str:
    """``example.com.`` as ``example.com``. What ends in two dots is no absolute name and stays."""
    return host[:-1] if host.endswith(".") and not host.endswith("..") and host != "." else host


def _without_www(host: str) -> str:
    # As often as it is there, so that the result does not change when it is made canonical again.
    while host.startswith("www.") and _is_site(rest := host[4:]):
        host = rest
    return host


def _is_site(name: str) -> bool:
    return not name.startswith(".") and not _suffixes(_ICANN_ONLY).is_public(name, accept_unknown=False)


@lru_cache(_NAMES_REMEMBERED)
def _registrable(host: str, icann_only: bool) -> str | None:
    name = _without_root_dot(_port("", _foreign_dot(".", host)))
    if name.rpartition(".")[2].isdigit():  # an address, which needs no list
        return None
    found = _suffixes(icann_only).privatesuffix(name)
    return found if found and _is_domain(found) else None


def _is_domain(name: str) -> bool:
    try:
        last_label = ascii_host(name).rpartition(".")[2]
    except InvalidURL:
        return False
    return not last_label.isdigit()  # else it is an IPv4 address


@cache
def _suffixes(icann_only: bool, /) -> PublicSuffixList:
    return PublicSuffixList(only_icann=icann_only)
