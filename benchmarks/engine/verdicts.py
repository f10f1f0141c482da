"""Figures beside their targets."""

from collections.abc import Sequence

from benchmarks.engine.crawls import Crawled

HEADING = f"{'pages/s':>9} {'with start':>10} {'CPU µs/page':>12} {'peak MB':>8}"


def row(name: str, one: Crawled) -> str:
    return (
        f"{one.pages_per_second:9.1f} {one.pages_per_second_with_start:10.1f} {one.cpu_microseconds_per_page:12.0f}"
        f" {one.peak_mb:8.0f}  {name}"
    )


def verdict(name: str, value: float, target: float, *, unit: str = "x", at_most: bool = False) -> str:
    """One line: the figure, its target, whether it is met."""
    met = value <= target if at_most else value >= target
    sign = "at most" if at_most else "at least"
    return f"{name}: {value:,.2f}{unit}  target {sign} {target:,g}{unit}: {'met' if met else 'MISSED'}"


def fastest(rounds: Sequence[Crawled]) -> Crawled:
    return max(rounds, key=lambda one: one.pages_per_second)
