"""Figures beside a peer: run one as ``python -m benchmarks.web.bench_urls``."""
