"""Benchmarks of crawler.fetch."""
