"""Benchmarks of crawler.web."""
