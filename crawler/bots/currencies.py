"""The currencies that results may name."""

from crawler.extract.currencies import CURRENCIES

__all__ = ["CURRENCIES"]
