"""Benchmarks of crawler.extract."""
