"""Figures beside their targets."""

from collections.abc import Iterable, Sequence

from benchmarks.engine.crawls import Crawled

MOST_FOR_OTHERS = 0.05

HEADING = f"{'pages/s':>9} {'with start':>10} {'CPU µs/page':>12} {'peak MB':>8} {'others':>7}"


def row(name: str, one: Crawled) -> str:
    return (
        f"{one.pages_per_second:9.1f} {one.pages_per_second_with_start:10.1f} {one.cpu_microseconds_per_page:12.0f}"
        f" {one.peak_mb:8.0f} {one.others_share:7.0%}  {name}"
    )


def verdict(
    name: str,
    value: float,
    target: float,
    *,
    unit: str = "x",
    at_most: bool = False,
    moonshot: float | None = None,
    of: Iterable[Crawled] = (),
) -> str:
    """One line: the figure, its target, whether it is met. Nothing is decided when `of` had to share their cores."""
    met = value <= target if at_most else value >= target
    sign = "at most" if at_most else "at least"
    share = max((one.others_share for one in of), default=0.0)
    decided = "met" if met else "MISSED"
    if moonshot is not None:
        decided += f", moonshot {moonshot:,g}{unit}: {'met' if value >= moonshot else 'no'}"
    if share > MOST_FOR_OTHERS:
        decided = f"UNDECIDED, other programs had up to {share:.0%} of the core"
    return f"{name}: {value:,.2f}{unit}  target {sign} {target:,g}{unit}: {decided}"


def fastest(rounds: Sequence[Crawled]) -> Crawled:
    return max(rounds, key=lambda one: one.pages_per_second)
