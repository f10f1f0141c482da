"""What a product URL is known by."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import NamedTuple

from django.conf import settings

from crawler.web.hosts import canonical_domain
from crawler.web.urls import normalize, resolve


class Identity(NamedTuple):
    url_hash: str
    url: str  # as it is fetched: without its fragment, otherwise as given
    domain: str


def identify(url: str, drop_params: Collection[str] | None = None) -> Identity:
    """Raises InvalidURL."""
    dropped = settings.CRAWLSPACE.tracking_params if drop_params is None else drop_params
    normal = normalize(url, drop_params=dropped)
    return Identity(hashlib.sha256(normal.encode("ascii")).hexdigest(), resolve(url), canonical_domain(normal))
