"""Benchmarks of crawler.archive."""
