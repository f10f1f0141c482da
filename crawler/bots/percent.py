"""How far a price went, so that "by more than X %" is exact.

A third has no end as a decimal. What is kept is rounded up to a millionth of a percent: then a price went further than
X percent exactly when the kept number is greater than X, for every X with up to six decimals.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from crawler.bots.exact import MICRO, PRICE_DIGITS

PLACES = Decimal("0.000001")
# Also what a price that was 0 is said to have gone up by: more than any percentage.
MOST_MICRO_PERCENT: int = 10**PRICE_DIGITS - 1


def micro_percent_up(old_micro: int, new_micro: int) -> int:
    """Millionths of a percent between two prices in millionths, rounded up. finish_postgresql has the same in SQL."""
    if not old_micro:
        return MOST_MICRO_PERCENT
    distance = abs(new_micro - old_micro) * 100 * int(MICRO)
    return min((distance + old_micro - 1) // old_micro, MOST_MICRO_PERCENT)


def percent(old: Decimal, new: Decimal) -> Decimal | None:
    """For people: signed, to six decimals. None when the price was 0."""
    if not old:
        return None
    with localcontext() as exact:
        exact.prec = 60
        shown = ((new - old) * 100 / old).quantize(PLACES, ROUND_HALF_EVEN).normalize()
    return shown.quantize(Decimal(1)) if shown == shown.to_integral_value() else shown
