"""The amount that a text or a JSON value says, exactly: ``1.290.000 ₫``, ``1 299,00 €``, ``€1,299.00``, ``49€99``.

Which mark separates thousands and which decimals is told by where they stand, and, where both readings are possible
(``1.299``), by the currency. A text with several numbers says the one that stands beside a currency, else the first
that is not a percentage. Nothing negative is a price, nor is a date, a rating or a monthly rate.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from crawler.extract.currencies import decimals_of
from crawler.extract.price.symbols import LONGEST_TEXT, signs

MOST_DIGITS = 12  # before the point; more is an identifier, not a price
LONGEST_FRACTION = 6  # what is longer was computed in binary: 19.989999771118164 is 19.99
NOISE_BEGINS_AT = 4  # decimals
USUAL_FRACTION = 2  # zeros after these say nothing: 26.5000 is 26.50

_BLANKS = dict.fromkeys(map(ord, "\u00a0\u202f\u2009\u2007\u2002\u2003\u2005\u200a\t\n\r\f"), " ")
_MARKS = {ord("٫"): ".", ord("٬"): ",", ord("，"): ",", ord("．"): ".", ord("’"): "'", ord("‘"): "'", ord("´"): "'"}
_DASHES = dict.fromkeys(map(ord, "–—−"), "-")
_FREE = re.compile(r"(?:free|gratis|gratuit|kostenlos|miễn phí)[!.]?", re.IGNORECASE)
# Digits with marks between them. A blank stands before exactly three digits, or beside a mark as in "12 . 48".
_NUMBER = re.compile(r"(?:\d+|(?<![\d.,])\.(?=\d\d(?!\d)))(?:[.,']?\d+| \d{3}(?!\d)| ?[.,] ?\d\d(?![\d]|[.,]\d))*")
_NOT_A_PRICE = re.compile(r" ?(?:%|out of \d|stars?\b|reviews?\b|months?\b)")
_RATED = re.compile(r"out of $")
_RANGE = re.compile(r" ?(?:-|to|bis|à|до) ?", re.IGNORECASE)
_CENTS_APART = re.compile(r"[€$£] ?(\d{1,6}) (\d\d)(?! ?\d|[.,]\d)")  # $249 99
_CENTS_BEFORE_SIGN = re.compile(r"(?<![\d.,])(\d{1,6}) (\d\d) ?(?:lei|ron|zł|kč|€)", re.IGNORECASE)  # 173 34 Lei
_CENTS_BEHIND_SIGN = re.compile(r"(?<![\d.,])(\d{1,6})[€$£](\d{2,3})(?![\d.,])")  # 49€99
_PENCE = re.compile(r"(\d{1,2}) ?p", re.IGNORECASE)
_TIMES = {"万": 10_000, "lakh": 100_000, "lakhs": 100_000, "k": 1_000, "triệu": 1_000_000}
_FACTOR = re.compile(r" ?(?:(万)|(lakhs?|triệu|k)(?!\w))", re.IGNORECASE)
_MACHINE = re.compile(r"\d{1,15}(?:\.\d{1,20})?")


def amount_in(text: str, currency: str | None = None) -> Decimal | None:
    """The amount in a text for people; ``currency`` is what is known of it from elsewhere."""
    text = _tidy(text)
    if _FREE.fullmatch(text):
        return Decimal(0)
    if pence := _PENCE.fullmatch(text):
        return Decimal(int(pence[1])) / 100
    for search in (_CENTS_APART.search, _CENTS_BEFORE_SIGN.search, _CENTS_BEHIND_SIGN.search):
        if apart := search(text):
            return _decimal(".".join(apart.groups()))
    for number in _best_first(text):
        if (amount := _amount(number[0].replace(" ", ""), currency)) is not None:
            return amount * _factor(text, number.end())
    return None


def amount_of(value: object, currency: str | None = None) -> Decimal | None:
    """The amount of a value for machines: a JSON number, or a string that ought to be one with a decimal point."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float | Decimal):
        return _decimal(str(value), currency)
    if not isinstance(value, str):
        return None
    text = value.strip()
    return _decimal(text, currency) if _MACHINE.fullmatch(text) else amount_in(text, currency)


def _tidy(text: str) -> str:
    text = text[: LONGEST_TEXT * 2]
    if not text.isascii():
        text = text.translate(_BLANKS | _MARKS | _DASHES)
        text = "".join(str(int(sign)) if sign.isdecimal() else sign for sign in text)
    return " ".join(text.split())[:LONGEST_TEXT]


def _decimal(digits: str, currency: str | None = None) -> Decimal | None:
    """A plain decimal. Where prices have no decimals, three of them after a point are thousands (``50.700`` VND)."""
    whole, _, fraction = digits.partition(".")
    if len(fraction) == 3 and len(whole) <= 3 and decimals_of(currency) == 0:
        digits, fraction = whole + fraction, ""
    try:
        amount = Decimal(digits)
    except InvalidOperation:
        return None
    if not amount.is_finite() or amount < 0 or amount.adjusted() >= MOST_DIGITS:
        return None
    if len(fraction) > LONGEST_FRACTION:
        amount = round(amount, NOISE_BEGINS_AT)
    return _without_zeros(amount) if len(fraction) > USUAL_FRACTION else amount


def _without_zeros(amount: Decimal) -> Decimal:
    exponent = amount.normalize().as_tuple().exponent
    places = max(USUAL_FRACTION, -exponent) if isinstance(exponent, int) else USUAL_FRACTION
    return round(amount, places)


def _best_first(text: str) -> list[re.Match[str]]:
    """The numbers of a text that may be prices, those beside a currency first; of a range its beginning."""
    numbers = [number for number in _NUMBER.finditer(text) if not _is_something_else(text, number)]
    if len(numbers) < 2:
        return numbers
    places = [(sign.start(), sign.end()) for sign in signs(text.lower())]
    best = min(range(len(numbers)), key=lambda at: _distance(numbers[at], places))
    if best and _RANGE.fullmatch(text, numbers[best - 1].end(), numbers[best].start()):
        best -= 1
    return [numbers[best], *numbers[:best], *numbers[best + 1 :]]


def _is_something_else(text: str, number: re.Match[str]) -> bool:
    """A percentage, a rating, a count."""
    return bool(_NOT_A_PRICE.match(text, number.end()) or _RATED.search(text[: number.start()].lower()))


def _distance(number: re.Match[str], places: list[tuple[int, int]]) -> int:
    """Blanks between a number and the nearest currency; all that are further off count the same."""
    gaps = [gap for start, end in places for gap in (start - number.end(), number.start() - end) if gap >= 0]
    return min([*gaps, 2])


def _amount(written: str, currency: str | None) -> Decimal | None:
    """What a number with its marks says; None when it is none, such as a date."""
    marks = [sign for sign in written if not sign.isdigit()]
    if not marks:
        return _decimal(written)
    last = marks[-1]
    if written[0] == ".":
        return _decimal(f"0{written}")
    groups = re.split(r"[.,']", written)
    if last != "'" and marks.count(last) == 1 and not _ends_with_thousands(groups, marks, currency):
        return _decimal("".join(groups[:-1]) + "." + groups[-1]) if _are_thousands(groups[:-1]) else None
    return _decimal("".join(groups)) if _are_thousands(groups) else None


def _ends_with_thousands(groups: list[str], marks: list[str], currency: str | None) -> bool:
    """Whether the last mark of a number, which occurs once, separates thousands rather than decimals."""
    if len(groups[-1]) != 3 or len(groups[0]) > 3 or groups[0] == "0":
        return False
    if len(marks) == 1:
        return decimals_of(currency) != 3
    return False


def _are_thousands(groups: list[str]) -> bool:
    """``1 290 000``; in India ``1 54 999``."""
    if len(groups) == 1:
        return True
    middle = groups[1:-1]
    return 1 <= len(groups[0]) <= 3 and len(groups[-1]) == 3 and all(len(group) in (2, 3) for group in middle)


def _factor(text: str, end: int) -> int:
    """``1.5万`` is ten thousand times as much."""
    found = _FACTOR.match(text, end)
    return _TIMES[(found[1] or found[2]).lower()] if found else 1
