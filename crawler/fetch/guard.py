"""Where fetches may go: the public internet, and what the operator adds to it.

The guard judges addresses, not names, and it judges the address that is connected to: a name that resolves
to something public now and to something private a moment later gains nothing. IPv6 addresses that carry an IPv4
address are refused, for they would lead around every rule about that one; only those of NAT64, through which
IPv6-only networks see the IPv4 internet, are judged by what they carry.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

JUDGEMENTS_REMEMBERED = 65_536


def _networks(purpose_by_network: dict[str, str]) -> dict[Network, str]:
    return {ipaddress.ip_network(text): purpose for text, purpose in purpose_by_network.items()}


# What `is_global` of the standard library lets through, or judges otherwise from one Python version to the next.
NEVER_PUBLIC = _networks(
    {
        "0.0.0.0/8": "this network",
        "100.64.0.0/10": "carrier-grade NAT",
        "168.63.129.16/32": "a cloud's own services",
        "169.254.0.0/16": "link-local",
        "192.0.0.0/24": "protocol assignments",
        "192.88.99.0/24": "6to4 relays",
        "198.18.0.0/15": "benchmarks",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
        "::/96": "IPv4-compatible",
        "::ffff:0:0/96": "IPv4-mapped",
        "::ffff:0:0:0/96": "IPv4-translated",
        "64:ff9b:1::/48": "local NAT64",
        "100::/64": "discard",
        "2001::/32": "Teredo",
        "2001::/23": "protocol assignments",
        "2001:db8::/32": "documentation",
        "2002::/16": "6to4",
        "3fff::/20": "documentation",
        "5f00::/16": "segment routing",
        "fc00::/7": "unique local",
        "fe80::/10": "link-local",
        "fec0::/10": "site-local",
        "ff00::/8": "multicast",
    }
)
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# An interface identifier that begins so carries an IPv4 address in the rest, whatever its prefix.
ISATAP_MARKS = frozenset({0x00005EFE, 0x02005EFE})


class Guard:
    """Judges addresses. Judgements are remembered: a crawl meets the same few addresses again and again."""

    def __init__(self, allowed: Iterable[Network] = ()) -> None:
        self.allowed = tuple(allowed)
        self.refusal = lru_cache(JUDGEMENTS_REMEMBERED)(self._refusal)

    def _refusal(self, text: str) -> str | None:
        """Why this address must not be connected to, or None when it may."""
        try:
            address = ipaddress.ip_address(text.partition("%")[0])
        except ValueError:
            return f"{text[:80]!r} is not an IP address"
        if any(address in network for network in self.allowed):
            return None
        if address in NAT64:
            carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
            return f"{address}: {refused}" if (refused := self.refusal(str(carried))) else None
        reason = reason_not_public(address)
        return f"{address} is not public ({reason})" if reason else None


def reason_not_public(address: Address) -> str | None:
    for network, purpose in NEVER_PUBLIC.items():
        if address in network:
            return purpose
    if address.version == 6 and (int(address) >> 32) & 0xFFFFFFFF in ISATAP_MARKS:
        return "ISATAP"
    return None if address.is_global else "private or reserved"
