"""No possessive or atomic groups in patterns, as Python before 3.11.5 matches them wrongly (gh-101955, gh-106052).

``[^<]*+`` and its like, which repeat a single character, are right everywhere. The scanner's grammar may use groups: it
is imported only where they work.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GATED = "crawler/web/links/grammar.py"
ONLY_IMPORTED_BY = "crawler/web/links/scanning.py"

_escape = re.compile(r"\\.", re.DOTALL)
_character_class = re.compile(r"\[\^?\]?[^\]]*\]")
# "()" is no group but a part of a character class that is put together elsewhere.
_possessive_group = re.compile(r"(?<!\()\)(?:[*+?]|\{[x0-9, ]*\})\+|\(\?>").search


def is_forbidden(pattern: str) -> bool:
    return _possessive_group(_character_class.sub("x", _escape.sub("x", pattern))) is not None


def strings(source: str) -> list[str]:
    """Every text written in a module, with an "x" for whatever an f-string inserts."""
    nodes = list(ast.walk(ast.parse(source)))
    formatted = [
        "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        for node in nodes
        if isinstance(node, ast.JoinedStr)
    ]
    plain = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return formatted + plain


def forbidden(file: Path) -> list[str]:
    return [text for text in strings(file.read_text()) if is_forbidden(text)]


@pytest.mark.parametrize(
    "pattern", ["(?:a|b)*+", "(a)?+", "(a(b))++c", "(?:[^)]){2,3}+", r"(\))*+", "(?>a)", "(?:x){x}+"]
)
def test_possessive_groups_are_recognised(pattern: str) -> None:
    assert is_forbidden(pattern)


@pytest.mark.parametrize(
    "pattern", ["(?:a)*", "[()*+,]", "a-z()*+,", r"[^\])*+]", r"\)*+", "(a*+)b?+", "[)]{1,3}+", "(a)+", "(a){2}"]
)
def test_others_are_not_taken_for_such(pattern: str) -> None:
    assert not is_forbidden(pattern)


def test_only_the_gated_grammar_has_possessive_groups() -> None:
    found = {str(file.relative_to(ROOT)): forbidden(file) for file in sorted((ROOT / "crawler").rglob("*.py"))}
    assert len(found) > 50
    assert found.pop(GATED), "nothing in it needs the gate any more"
    assert not {name: texts for name, texts in found.items() if texts}


def test_only_the_scanner_uses_the_gated_grammar() -> None:
    files = [file for file in (ROOT / "crawler").rglob("*.py") if re.search(r"import .*\bgrammar\b", file.read_text())]
    assert [str(file.relative_to(ROOT)) for file in files] == [ONLY_IMPORTED_BY]
