from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from crawler.integrations.price_worker import Manners, Pages
from tests.faults.shop import Shop


@pytest.fixture
def manners() -> Manners:
    loopback = (ip_network("127.0.0.0/8"),)
    return Manners("PriceTest/1", loopback, delay_seconds=0.0, timeout_seconds=10.0, max_body_bytes=200_000)


@pytest.fixture
def shop() -> Iterator[Shop]:
    made = Shop()
    yield made
    made.close()


@pytest.fixture
def pages(manners: Manners) -> Iterator[Pages]:
    with Pages(manners) as made:
        yield made
