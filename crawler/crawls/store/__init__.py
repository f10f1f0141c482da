"""The engine's store (engine/contract.py) on Django's database."""

from crawler.crawls.store.store import DatabaseStore

__all__ = ["DatabaseStore"]
