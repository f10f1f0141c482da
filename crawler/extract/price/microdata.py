"""A page's microdata as objects of the same form as JSON-LD: ``{"@type": …, property: value, …}``.

Only what prices need: an object's properties are those of the elements in it that are in no other object; ``itemref``
is not followed. Prices that stand in no object make one of their own, as shops forget ``itemscope`` often.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_LOOSE_PRICES: Final = 3  # more are a list's
MOST_ELEMENTS: Final = 5_000
MOST_STEPS: Final = 100_000  # from an element to its parent
MOST_TEXT: Final = 1_000_000  # characters of all elements, which may stand in each other
LONGEST_TEXT: Final = 500
LONGEST_TEXT_READ: Final = 20_000  # an element with more text in it says no price

_WANTED: Final = frozenset(
    "name price currency pricecurrency lowprice minprice availability url sku pricetype itemcondition".split()
)
_AS_IN_JSON_LD: Final = {
    "currency": "priceCurrency",  # data-vocabulary.org
    "pricecurrency": "priceCurrency",
    "lowprice": "lowPrice",
    "minprice": "minPrice",
    "pricetype": "priceType",
    "itemcondition": "itemCondition",
}
_ATTRIBUTE_BY_TAG: Final = {
    "meta": "content", "link": "href", "a": "href", "area": "href", "img": "src", "data": "value", "time": "datetime",
    "meter": "value", "input": "value", "iframe": "src", "object": "data",
}  # fmt: skip

Item = dict[str, Any]
Attributes = Mapping[str, str | None]


def items_of(tree: LexborHTMLParser) -> list[Item]:
    """The objects that are no property of another one, in the order of the page."""
    return _Walk().items(tree)


class _Walk:
    def __init__(self) -> None:
        self.item_by_element: dict[int, Item] = {}
        self.owner_by_element: dict[int, Item | None] = {}
        self.loose: Item = {"@type": "Offer"}
        self.loose_prices = 0
        self.steps = 0
        self.text_left = MOST_TEXT

    def items(self, tree: LexborHTMLParser) -> list[Item]:
        found: list[Item] = []
        for node in tree.css(":is([itemprop],[itemscope])")[:MOST_ELEMENTS]:
            attributes = node.attributes
            names = (attributes.get("itemprop") or "")[:200].split()[:5]
            if "itemscope" in attributes:
                found += self._add_item(node, attributes, names)
            elif wanted := [name for name in map(str.lower, names) if name in _WANTED]:
                self._add_value(node, attributes, [_AS_IN_JSON_LD.get(name, name) for name in wanted])
        return [*found, self.loose] if 0 < self.loose_prices <= MOST_LOOSE_PRICES else found

    def _add_item(self, node: LexborNode, attributes: Attributes, names: list[str]) -> list[Item]:
        """The object, if it is no property of another. An offer within another belongs to it, said or not."""
        item, owner = self._open(node, attributes), self._owner(node)
        if owner is None or (not names and not _is_offer(item)):
            return [item]
        for name in names or ["offers"]:
            before = owner.get(name)
            listed = before if isinstance(before, list) else [before] if isinstance(before, dict) else []
            owner[name] = [*listed, item] if listed else item
        return []

    def _add_value(self, node: LexborNode, attributes: Attributes, names: list[str]) -> None:
        """The first one counts."""
        owner = self._owner(node)
        thing = self.loose if owner is None else owner
        self.loose_prices += owner is None and "price" in names
        missing = [name for name in names if name not in thing]
        value = self._value(node, attributes) if missing else None
        if value:
            thing.update(dict.fromkeys(missing, value))

    def _open(self, node: LexborNode, attributes: Attributes) -> Item:
        types = (attributes.get("itemtype") or "")[:500].split()
        item: Item = {"@type": types}
        if attributes.get("itemid"):
            item["@id"] = attributes["itemid"]
        self.item_by_element[node.mem_id] = item
        return item

    def _owner(self, node: LexborNode) -> Item | None:
        """The object that an element stands in. What was found on the way is remembered, so that it is walked once."""
        way: list[int] = []
        owner: Item | None = None
        above = node.parent
        while above is not None and self.steps < MOST_STEPS:
            self.steps += 1
            key = above.mem_id
            if key in self.item_by_element:
                owner = self.item_by_element[key]
                break
            if key in self.owner_by_element:
                owner = self.owner_by_element[key]
                break
            way.append(key)
            above = above.parent
        self.owner_by_element.update(dict.fromkeys(way, owner))
        return owner

    def _value(self, node: LexborNode, attributes: Attributes) -> str | None:
        """`content` counts on every element: shops put there what the text says less clearly."""
        for attribute in ("content", _ATTRIBUTE_BY_TAG.get(node.tag or "")):
            if attribute and attributes.get(attribute):
                return (attributes[attribute] or "")[:LONGEST_TEXT]
        text = (node.text(deep=True, separator=" ") or "") if self.text_left > 0 else ""
        self.text_left -= len(text)
        return " ".join(text.split())[:LONGEST_TEXT] if len(text) <= LONGEST_TEXT_READ else None


def _is_offer(item: Item) -> bool:
    return any(kind.rstrip("/").lower().endswith("offer") for kind in item["@type"])
