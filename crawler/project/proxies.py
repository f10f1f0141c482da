"""Who really asks, when reverse proxies stand in front: believed only from TRUSTED_PROXIES."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from crawler.foundation.config.parsers import Network

Handler = Callable[[HttpRequest], HttpResponse]
Address = IPv4Address | IPv6Address


class BehindProxies:
    """Outermost: whatever looks at the address or the scheme later sees those of the client."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if trusted := settings.CRAWLSPACE.trusted_proxies:
            believe(request.META, trusted)
        return self.get_response(request)


def believe(meta: dict[str, Any], trusted: Sequence[Network]) -> None:
    """Replace address and scheme by what a trusted proxy says about them."""
    nearest = parsed(meta.get("REMOTE_ADDR", ""))
    if nearest is None or not is_trusted(nearest, trusted):
        return
    meta["REMOTE_ADDR"] = str(client_behind(nearest, meta.get("HTTP_X_FORWARDED_FOR", ""), trusted))
    # The nearest proxy writes last; what stands before may be the client's own invention.
    scheme = meta.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip().lower()
    if scheme in ("http", "https"):
        meta["wsgi.url_scheme"] = scheme


def client_behind(nearest: Address, forwarded_for: str, trusted: Sequence[Network]) -> Address:
    """From the right, as each proxy adds whom it heard: the first that is not one of ours."""
    client = nearest
    for text in reversed(forwarded_for.split(",")):
        said = parsed(text)
        if said is None:
            break
        client = said
        if not is_trusted(client, trusted):
            break
    return client


def parsed(text: str) -> Address | None:
    """Also with a port, or in brackets. An IPv4 address that came over IPv6 is an IPv4 address."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def is_trusted(address: Address, trusted: Sequence[Network]) -> bool:
    return any(address in network for network in trusted)


def origin_of(url: str) -> str:
    """`https://host:port` of an address that may have a path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
