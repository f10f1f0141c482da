"""Crawlspace: a self-hosted crawl platform."""

__version__ = "0.1.0"
