"""The address a request came from, as limits count it. Behind proxies see TRUSTED_PROXIES."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

from django.http import HttpRequest

# Whoever has one IPv6 address has the whole network it is in.
IPV6_PREFIX = 64


def address_of(request: HttpRequest | None) -> str:
    """Empty when nobody knows, as in a test or a local socket."""
    return str(request.META.get("REMOTE_ADDR", "")) if request else ""


def place_of(request: HttpRequest | None) -> str:
    """What counts as one place: an IPv4 address, or the IPv6 network around an address."""
    text = address_of(request)
    if ":" not in text:
        return text[:60]
    try:
        address = ip_address(text)
    except ValueError:
        return text[:60]
    if not isinstance(address, IPv6Address):
        return text
    return str(address.ipv4_mapped or ip_network((address, IPV6_PREFIX), strict=False))


def address_subject(request: HttpRequest | None) -> str:
    """Whose count it is when only the address is known."""
    return f"address:{place_of(request)}"
