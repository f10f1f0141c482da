"""Reads the conformance cases that live beside the checkout, and our list of deliberate deviations.

The cases are other people's text and stay outside the project: in the folder named by CRAWLER_VECTORS, else in
``../shared/vectors``. A module that asks for rows is skipped with a message where the folder is absent.
"""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

_CHECKOUT = Path(__file__).resolve().parents[2]
_DEVIATIONS = Path(__file__).with_name("deviations.toml")


def folder() -> Path | None:
    """The folder of vector files, or None when this machine has none."""
    named = os.environ.get("CRAWLER_VECTORS")
    path = Path(named) if named else _CHECKOUT.parent / "shared" / "vectors"
    return path if path.is_dir() else None


def rows(name: str) -> list[dict[str, Any]]:
    """Every case of one JSON-lines file, each with its 1-based line number under ``_row``."""
    path = folder()
    if path is None:
        pytest.skip("no conformance vectors: set CRAWLER_VECTORS or provide ../shared/vectors", allow_module_level=True)
    # Split on "\n" only: str.splitlines would also cut at U+2028 and its like inside a JSON string.
    lines = (path / name).read_text(encoding="utf-8").split("\n")
    return [json.loads(line) | {"_row": number} for number, line in enumerate(lines, 1) if line.strip()]


def deviations(topic: str) -> dict[tuple[str, int], str]:
    """Reasons of the rows we deliberately disagree with, by (file name, row number)."""
    listed = tomllib.loads(_DEVIATIONS.read_text(encoding="utf-8")).get(topic, [])
    return {(entry["file"], entry["row"]): entry["reason"] for entry in listed}
