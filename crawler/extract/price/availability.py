"""Whether something can be had now, from schema.org's words, Open Graph's and the shops' own spellings of them."""

from __future__ import annotations

import re

_NO = frozenset(
    "outofstock soldout discontinued oos unavailable backorder backordered preorder presale pending notavailable"
    " reserved outofstockonline temporarilyoutofstock false 0".split()
)
_YES = frozenset(
    "instock limitedavailability instoreonly onlineonly madetoorder available availablefororder lowstock limited true 1"
    " instoreavailability onlineavailability".split()
)


def is_in_stock(word: object) -> bool | None:
    """What can only be ordered for later is not in stock. None where the word is missing or unknown."""
    if isinstance(word, bool):
        return word
    if isinstance(word, list):
        word = word[0] if word else None
    if isinstance(word, dict):
        word = word.get("@id") or word.get("name")
    if not isinstance(word, str):
        return None
    plain = re.sub(r"[^a-z0-9]", "", word[:200].strip().rstrip("/").rpartition("/")[2].lower())
    return False if plain in _NO else True if plain in _YES else None
