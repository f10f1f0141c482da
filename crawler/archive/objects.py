"""Volumes as objects of a store (S3 and whatever else obstore reaches), each put whole: it is there or it is not.

Every `secure` completes one object, so a row never points to bytes that are not there. A put that failed is repeated
under the same name with the same bytes at the same offsets.
"""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from typing import Any

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore, from_url

from crawler.archive.contract import ArchiveUnavailable
from crawler.archive.volume import Volume

# The store's client tries again by itself, but not for so long that a worker would lose its claims meanwhile.
RETRIES: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
# Options of the HTTP client; all others are the store's own. Without any, the environment decides (AWS_REGION, …).
CLIENT_OPTIONS = frozenset({"allow_http", "connect_timeout", "proxy_url", "timeout"})

Options = tuple[tuple[str, str], ...]


@lru_cache(maxsize=64)
def store_at(url: str, options: Options = ()) -> ObjectStore:
    """The same store for the same URL, so that connections are shared, and what is in memory too."""
    try:
        if url.startswith(("file:", "memory:")):
            return from_url(url)
        config: Any = {name: value for name, value in options if name not in CLIENT_OPTIONS}
        client: Any = {name: value for name, value in options if name in CLIENT_OPTIONS}
        return from_url(url, config=config, client_options=client, retry_config=RETRIES)
    except (BaseError, ValueError, OSError) as error:
        raise ArchiveUnavailable(f"cannot use the archive at {url}: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """What a person needs of it; the library adds pages of its own structures."""
    return str(error).partition("\n")[0].strip()


class ObjectShelf:
    takes_more = False

    def __init__(self, url: str, *, options: Options = ()) -> None:
        self.url = url
        self.store = store_at(url, options)

    def keep(self, volume: Volume) -> None:
        try:
            obstore.put(self.store, volume.name, b"".join(volume.parts))
        except (BaseError, OSError) as error:
            raise ArchiveUnavailable(f"cannot write to the archive at {self.url}: {reason_of(error)}") from error

    def finish(self, volume: Volume) -> None:
        pass

    def close(self) -> None:
        pass
