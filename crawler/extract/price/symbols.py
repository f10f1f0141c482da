"""Which currency a text names: by ISO code, by sign, or by the word shops write. Ambiguous signs need a hint.

``$`` alone is the dollar (or peso) of the country that the page's host belongs to, and otherwise the American one;
``kr``, ``Rs`` and ``¥`` likewise. Codes that are no longer in ISO 4217 are not named.
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.extract.currencies import CURRENCIES

LONGEST_TEXT = 200  # characters looked at
FIRST_OF_CHINESE = "\u2e80"  # scripts that leave no blanks between words

# Signs and words as written, in lower case. Longer ones win over those they contain.
_SIGNS_BY_CURRENCY = {
    "EUR": "€, euro, euros", "GBP": "£", "USD": "us$, us $, u$s", "CAD": "c$, c $, ca$, cad$, can$, cdn$",
    "AUD": "a$, au$, au $", "NZD": "nz$", "HKD": "hk$", "TWD": "nt$", "MXN": "mx$", "SGD": "s$, sg$",
    "BRL": "r$", "DOP": "rd$", "TTD": "tt$", "BZD": "bz$", "UYU": "$u", "GYD": "gy$", "MOP": "mop$",
    "ZWG": "z$", "EGP": "e£, جنيه, ج.م, le, l.e., l.e", "VND": "₫, đ, vnđ", "JPY": "円, yen",
    "CNY": "元, 人民币, 圆, rmb, yuan", "KRW": "₩, 원", "INR": "₹, रु", "TRY": "₺, tl", "PLN": "zł, zl", "CZK": "kč",
    "HUF": "ft", "RON": "lei", "BGN": "лв, лв.", "UAH": "грн, грн., ₴", "RUB": "₽, rur, руб, руб., р., p.",
    "KZT": "тг, тг., ₸", "BYN": "б.р., бел. руб", "RSD": "din, дин, дин., dinara", "ILS": '₪, ש״ח, ש"ח',
    "IDR": "rp, rp.", "MYR": "rm", "THB": "฿, บาท", "PHP": "₱", "NGN": "₦", "SAR": "r.s, ر.س, sr, ريال",
    "AED": "د.إ, درهم, dhs", "TND": "dt, د.ت", "KWD": "د.ك, kd", "DZD": "د.ج, دج", "MAD": "د.م", "QAR": "ر.ق",
    "OMR": "ر.ع", "BHD": "د.ب", "LBP": "ل.ل", "SYP": "ل.س", "IQD": "ع.د", "LYD": "د.ل", "IRR": "ریال",
    "BDT": "৳", "CHF": "sfr, fr.", "AZN": "₼", "AMD": "֏", "GEL": "₾, lari", "KES": "ksh, kshs", "XOF": "fcfa",
    "GHS": "gh₵, ₵", "CRC": "₡", "PEN": "s/., s/", "KHR": "៛", "LAK": "₭", "MNT": "₮", "LKR": "රු",
}  # fmt: skip
_CURRENCY_BY_SIGN = {sign: code for code, signs in _SIGNS_BY_CURRENCY.items() for sign in signs.split(", ")}
_CROWNS = {"se": "SEK", "no": "NOK", "dk": "DKK", "is": "ISK"}
_RUPEES = {"in": "INR", "pk": "PKR", "lk": "LKR", "np": "NPR", "mu": "MUR"}
_DOLLARS = {
    "ca": "CAD", "au": "AUD", "nz": "NZD", "mx": "MXN", "ar": "ARS", "cl": "CLP", "co": "COP", "sg": "SGD", "hk": "HKD",
    "tw": "TWD", "uy": "UYU",
}  # fmt: skip
_YEN = {"cn": "CNY", "jp": "JPY"}
_CURRENCY_BY_COUNTRY = {
    "$": _DOLLARS, "kr": _CROWNS, "kr.": _CROWNS, "rs": _RUPEES, "rs.": _RUPEES, "₨": _RUPEES, "¥": _YEN, "￥": _YEN,
    "r": {"za": "ZAR"},
}  # fmt: skip
_ELSEWHERE = {"$": "USD", "rs": "INR", "rs.": "INR", "₨": "INR", "¥": "JPY", "￥": "JPY"}


def _pattern(signs: list[str]) -> str:
    """Words stand alone, though a digit may touch them; signs, also Chinese ones, stand anywhere."""
    written = []
    for sign in sorted(signs, key=len, reverse=True):
        before = r"(?<![^\W\d_])" if _is_letter(sign[0]) else ""
        after = r"(?![^\W\d_])" if _is_letter(sign[-1]) else ""
        written.append(before + re.escape(sign) + after)
    return "|".join(written)


def _is_letter(sign: str) -> bool:
    return sign.isalpha() and sign < FIRST_OF_CHINESE


_SIGNS = _pattern([*_CURRENCY_BY_SIGN, *_CURRENCY_BY_COUNTRY, *(code.lower() for code in CURRENCIES)])
_sign = re.compile(_SIGNS).search
signs = re.compile(_SIGNS).finditer


@lru_cache(4096)
def currency_in(text: str, country: str = "") -> str | None:
    """The ISO 4217 code of the first currency named in a text. ``country`` is a top-level domain such as ``ca``."""
    found = _sign(text[:LONGEST_TEXT].lower())
    return _code_of(found[0], country) if found else None


def _code_of(sign: str, country: str) -> str | None:
    if sign in _CURRENCY_BY_SIGN:
        return _CURRENCY_BY_SIGN[sign]
    if sign in _CURRENCY_BY_COUNTRY:
        return _CURRENCY_BY_COUNTRY[sign].get(country, _ELSEWHERE.get(sign))
    return sign.upper()


def country_of(host: str) -> str:
    """The country of a host's name: ``example.co.uk`` gives ``uk``, ``example.com`` nothing."""
    label = host.rpartition(".")[2].lower()
    return label if len(label) == 2 and label.isalpha() else ""
