"""Which of many rules decides about a path, without looking at each of them (RFC 9309 §2.2.2).

The rule with the most octets wins, on equal length the allowing one, among equals the first in the file. Rules without
an inner wildcard are kept sorted: the longest stored prefix of a path is its predecessor in that order, or a prefix of
that predecessor. Rules with an inner ``*`` are found through a few characters that a matching path must contain, and
compared by ``str.find``: there is no regular expression to backtrack.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from crawler.web.robots.paths import canonical_pattern, is_settled_literal
from crawler.web.robots.reading import Rule


class Verdict(NamedTuple):
    """Whether a URL may be fetched, and the rule with its 1-based line that says so; None when no rule applied."""

    allowed: bool
    rule: str | None
    line: int | None


class _Pattern(NamedTuple):
    """A literal start, literals that follow somewhere in this order, and a literal end (None: any end)."""

    rank: int
    head: str
    inner: tuple[str, ...]
    tail: str | None

    def longest_literal(self) -> str:
        return max((self.head, *self.inner, self.tail or ""), key=len)


ALLOWED: Final = Verdict(True, None, None)
_NO_RULE: Final = -1  # weaker than the rank of any rule
_LINE_BITS: Final = 20  # A file has fewer lines than that, being no longer than MAX_BYTES.
_LAST_LINE: Final = (1 << _LINE_BITS) - 1
_INDEXED_LENGTH: Final = 64
_unimportant_in_query = re.compile(r"[:/]|%3A|%2F").search
_PIECE_LENGTH: Final = 3


class Matcher:
    """The rules of one group, ready to judge any number of paths.

    Rules are handled as ranks: numbers that grow with strength and end in the line, so that no two are equal.
    """

    __slots__ = (
        "_best_by_prefix", "_chains", "_exact", "_piece_index", "_pieces", "_prefixes", "_rules_by_line",
        "_short_index", "_verdicts",
    )  # fmt: skip

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules_by_line = {rule.line: rule for rule in rules}
        self._verdicts = {_NO_RULE: ALLOWED}
        self._exact: dict[str, int] = {}
        self._best_by_prefix: dict[str, int] = {}
        wildcards: list[_Pattern] = []
        for rule in self._rules_by_line.values():
            allow, value, line = rule
            if is_settled_literal(value):  # nearly all rules of nearly all files
                rank = (2 * len(value) + allow) << _LINE_BITS | _LAST_LINE - line
                if rank > self._best_by_prefix.get(value, _NO_RULE):
                    self._best_by_prefix[value] = rank
                continue
            for pattern in _patterns(rule):
                if pattern.inner or pattern.tail:
                    wildcards.append(pattern)
                else:
                    kept = self._best_by_prefix if pattern.tail is None else self._exact
                    _keep_stronger(kept, pattern.head, pattern.rank)
        self._index_prefixes()
        self._index_wildcards(wildcards)

    def verdict(self, path: str) -> Verdict:
        """The verdict on a canonical path."""
        best = self._best_prefix(path)
        if self._exact:
            best = max(best, self._exact.get(path, _NO_RULE))
        if self._pieces:
            # All runs of three characters of the path, intersected without a Python-level loop.
            for piece in self._pieces.intersection(_pieces(path)):
                best = _stronger(self._piece_index[piece], path, best)
        for literal, wildcards in self._short_index:
            if literal in path:
                best = _stronger(wildcards, path, best)
        return self._verdicts.get(best) or self._new_verdict(best)

    def _new_verdict(self, rank: int) -> Verdict:
        rule = self._rules_by_line[_LAST_LINE - (rank & _LAST_LINE)]
        verdict = self._verdicts[rank] = Verdict(rule.allow, rule.text(), rule.line)
        return verdict

    def _best_prefix(self, path: str) -> int:
        predecessor = bisect_right(self._prefixes, path) - 1
        if predecessor < 0:
            return _NO_RULE
        prefixes = self._chains[predecessor]
        if path.startswith(prefixes[-1]):
            return self._best_by_prefix[prefixes[-1]]
        matching = bisect_left(prefixes, True, key=lambda prefix: not path.startswith(prefix))
        return self._best_by_prefix[prefixes[matching - 1]] if matching else _NO_RULE

    def _index_prefixes(self) -> None:
        """Notes for each prefix the stored ones it begins with, shortest first, and lets it inherit their strength."""
        self._prefixes = sorted(self._best_by_prefix)
        self._chains: list[tuple[str, ...]] = []
        begun_with: list[str] = []
        for prefix in self._prefixes:
            while begun_with and not prefix.startswith(begun_with[-1]):
                begun_with.pop()
            if begun_with:
                _keep_stronger(self._best_by_prefix, prefix, self._best_by_prefix[begun_with[-1]])
            begun_with.append(prefix)
            self._chains.append(tuple(begun_with))

    def _index_wildcards(self, wildcards: list[_Pattern]) -> None:
        """Files each, strongest first, under the piece of its longest literal that the fewest others contain."""
        self._piece_index: dict[tuple[str, ...], list[_Pattern]] = {}
        short_index: dict[str, list[_Pattern]] = {}
        wildcards.sort(key=lambda wildcard: -wildcard.rank)
        literals = [wildcard.longest_literal()[:_INDEXED_LENGTH] for wildcard in wildcards]
        commonness = Counter(chain.from_iterable(map(_pieces, literals)))
        for wildcard, literal in zip(wildcards, literals, strict=True):
            if len(literal) < _PIECE_LENGTH:
                short_index.setdefault(literal, []).append(wildcard)
            else:
                rarest = min(_pieces(literal), key=commonness.__getitem__)
                self._piece_index.setdefault(rarest, []).append(wildcard)
        self._pieces = frozenset(self._piece_index)
        self._short_index = list(short_index.items())


def _keep_stronger(ranks: dict[str, int], text: str, rank: int) -> None:
    if rank > ranks.get(text, _NO_RULE):
        ranks[text] = rank


def _stronger(wildcards: list[_Pattern], path: str, best: int) -> int:
    """The first of the wildcards, strongest first, that is stronger than ``best`` and matches; else ``best``."""
    for rank, head, inner, tail in wildcards:
        if rank <= best:
            break
        if path.startswith(head):
            position = _end_of_last(inner, path, len(head)) if inner else len(head)
            if position >= 0 and (tail is None or (path.endswith(tail) and len(path) - len(tail) >= position)):
                return rank
    return best


def _end_of_last(literals: tuple[str, ...], path: str, position: int) -> int:
    """Where the last of the literals ends, each taken at its first place behind the one before; -1: one is missing."""
    for literal in literals:
        position = path.find(literal, position)
        if position < 0:
            return -1
        position += len(literal)
    return position


def _pieces(text: str) -> Iterator[tuple[str, ...]]:
    return zip(text, text[1:], text[2:], strict=False)


def _rank(rule: Rule, octets: int) -> int:
    return (2 * octets + rule.allow) << _LINE_BITS | _LAST_LINE - rule.line


def _patterns(rule: Rule) -> Iterator[_Pattern]:
    """The rule taken apart, once for each of its meanings."""
    anchored = rule.value.endswith("$")
    canonical = canonical_pattern(rule.value[:-1] if anchored else rule.value)
    rank = _rank(rule, len(canonical) + anchored)
    for spelling in _query_spellings(canonical) if "?" in canonical else (canonical,):
        yield _taken_apart(spelling, rank, anchored)
    if rule.allow and canonical.endswith(("/index.html", "/index.htm")):
        # Google, crawler-commons and Protego: allowing the index page allows the address it is usually fetched by.
        directory = canonical[: canonical.rindex("/") + 1]
        yield _taken_apart(directory, _rank(rule, len(directory) + 1), anchored=True)


def _taken_apart(pattern: str, rank: int, anchored: bool) -> _Pattern:
    head, star, rest = pattern.partition("*")
    if not star:
        return _Pattern(rank, head, (), "" if anchored else None)
    *inner, last = rest.split("*")
    if anchored:
        return _Pattern(rank, head, tuple(filter(None, inner)), last or None)
    return _Pattern(rank, head, tuple(filter(None, (*inner, last))), None)


def _query_spellings(pattern: str) -> set[str]:
    """``:`` and ``/`` mean nothing in a query, so that there encoded and literal ones are equal (table of §2.2.2)."""
    path, mark, query = pattern.partition("?")
    if not _unimportant_in_query(query):
        return {pattern}
    literal = query.replace("%3A", ":").replace("%2F", "/")
    return {pattern, path + mark + literal, path + mark + literal.replace(":", "%3A").replace("/", "%2F")}
