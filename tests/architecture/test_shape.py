"""The shape of the code: small functions, small files, rooms that import downwards.

What is too big is named in exceptions.toml, with its size; sizes may shrink, entries may go, nothing may be added.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST_FUNCTION, LONGEST_FILE = 60, 500
EXCEPTIONS = tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text())
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}


def sources() -> list[Path]:
    places = [ROOT / name for name in ("crawler", "tests", "benchmarks", "scripts")]
    files = [file for place in places for file in sorted(place.rglob("*.py"))]
    return [file for file in files if "migrations" not in file.relative_to(ROOT).parts[:-1]]


def test_there_is_something_to_check() -> None:
    assert len(sources()) > 50


def test_no_file_is_too_long() -> None:
    sizes = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in sources()}
    long = {name: size for name, size in sizes.items() if size > LONGEST_FILE}
    assert_only_known(long, EXCEPTIONS.get("files", {}))


def test_no_function_is_too_long() -> None:
    long: dict[str, int] = {}
    for file in sources():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or node.lineno) - node.lineno + 1
                if size > LONGEST_FUNCTION:
                    long[f"{file.relative_to(ROOT)}:{node.name}"] = size
    assert_only_known(long, EXCEPTIONS.get("functions", {}))


def assert_only_known(long: dict[str, int], allowed: dict[str, int]) -> None:
    grown = {name: size for name, size in long.items() if size > allowed.get(name, 0)}
    assert not grown, f"too long: {grown}"
    stale = {name: size for name, size in allowed.items() if long.get(name) != size}
    assert not stale, f"these shrank or went: write their new size, or remove them from exceptions.toml: {stale}"


def test_names_say_what_is_inside() -> None:
    vague = [str(file.relative_to(ROOT)) for file in sources() if FORBIDDEN_NAMES & {file.stem, *file.parts}]
    assert not vague


def test_rooms_import_downwards_only() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_nothing_is_skipped_or_expected_to_fail() -> None:
    """A test that cannot run says so by failing; only the vectors, which are not ours to ship, may be absent."""
    marks = ("mark." + "skip", "mark." + "xfail", "pytest." + "xfail")
    found = [str(file.relative_to(ROOT)) for file in sources() if any(mark in file.read_text() for mark in marks)]
    assert not found
