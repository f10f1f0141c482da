from ipaddress import ip_network

import pytest

from crawler.fetch.guard import Guard


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::5db8:d822"])
def test_public_addresses_may_be_reached(address: str) -> None:
    assert Guard().refusal(address) is None


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "100::1",
        "2001:db8::1",
        "2001:10::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_special_addresses_are_refused(address: str) -> None:
    assert Guard().refusal(address)


@pytest.mark.parametrize(
    "address",
    [
        "::127.0.0.1",  # IPv4-compatible
        "::8.8.8.8",
        "::ffff:127.0.0.1",  # mapped
        "::ffff:8.8.8.8",
        "::ffff:0:127.0.0.1",  # translated
        "64:ff9b::127.0.0.1",  # NAT64
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::a00:1",  # NAT64 for local use
        "2002:7f00:1::",  # 6to4
        "2002:808:808::",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",  # Teredo
        "2606:4700::5efe:127.0.0.1",  # ISATAP
        "2606:4700::200:5efe:10.0.0.1",
    ],
)
def test_ways_around_by_ipv6_are_refused(address: str) -> None:
    assert Guard().refusal(address)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f.0.0.1", "1.2.3.4.5", "::g"])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert Guard().refusal(text)


def test_networks_can_be_allowed() -> None:
    guard = Guard([ip_network("10.1.0.0/16"), ip_network("fd00::/8")])
    assert guard.refusal("10.1.2.3") is None
    assert guard.refusal("fd00::1") is None
    assert guard.refusal("64:ff9b::10.1.2.3") is None
    assert guard.refusal("10.2.0.1")
    assert guard.refusal("::ffff:10.1.2.3")


def test_the_reason_is_told() -> None:
    assert Guard().refusal("169.254.169.254") == "169.254.169.254 is not public (link-local)"
    assert Guard().refusal("10.0.0.1") == "10.0.0.1 is not public (private or reserved)"
