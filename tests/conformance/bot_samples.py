"""Reads the code samples of the two bot documents that live beside the checkout, and compares shapes of JSON.

The documents are other people's text and stay outside the project: in the folder named by CRAWLER_SPEC, else in
``../shared/spec``. A module that asks for samples is skipped with a message where the folder is absent. A sample is
named by its document's version and the line of its opening fence.
"""

from __future__ import annotations

import json
import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest

_CHECKOUT = Path(__file__).resolve().parents[2]
VERSIONS = ("v1.0", "v1.1")
LANGUAGES = ("python", "bash", "json")


class Sample(NamedTuple):
    version: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.version}:{self.line}:{self.language}"


def folder() -> Path | None:
    named = os.environ.get("CRAWLER_SPEC")
    path = Path(named) if named else _CHECKOUT.parent / "shared" / "spec"
    return path if path.is_dir() else None


def samples() -> list[Sample]:
    """Every fenced block in a language; drawings have none."""
    path = folder()
    if path is None:
        pytest.skip("no bot documents: set CRAWLER_SPEC or provide ../shared/spec", allow_module_level=True)
    return [one for version in VERSIONS for one in _fenced(version, (path / f"bot-api-{version}.md").read_text())]


def _fenced(version: str, text: str) -> list[Sample]:
    found, opened, language, body = [], 0, "", list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("```"):
            body.append(line)
        elif opened:
            if language:
                found.append(Sample(version, opened, language, "\n".join(body) + "\n"))
            opened = 0
        else:
            opened, language, body = number, line[3:].strip(), []
    return found


def as_json(sample: Sample) -> Any:
    """With the documents' remarks and dots taken out."""
    return json.loads(re.sub(r"\[\.\.\.\]", "[]", re.sub(r"\s# .*", "", sample.text)))


DESCRIBED = {
    "uuid": lambda real: _is_uuid(real),
    "integer": lambda real: isinstance(real, int) and not isinstance(real, bool),
    "decimal": lambda real: isinstance(real, int | float) and not isinstance(real, bool),
    "iso": lambda real: real is None or _is_moment(real),
    "string": lambda real: isinstance(real, str),
}
# Words of the contract, not examples.
LITERAL = {"$.data.status", "$.data.message", "$.error", "$.status", "$.message"}


def differences(sample: Any, real: Any, at: str = "$") -> list[str]:
    """Where the real answer lacks a key of the sample, or has a value of another kind. More keys are no difference."""
    if isinstance(sample, dict):
        if not isinstance(real, dict):
            return [f"{at}: {real!r} is no object"]
        missing = [f"{at}.{key}: missing" for key in sample if key not in real]
        return missing + [
            one for key in sample if key in real for one in differences(sample[key], real[key], f"{at}.{key}")
        ]
    if isinstance(sample, list):
        if not isinstance(real, list) or (sample and not real):
            return [f"{at}: {real!r} is no such list"]
        return [one for item in real if sample for one in differences(sample[0], item, f"{at}[]")]
    return [] if _is_alike(sample, real, at) else [f"{at}: {real!r} is not like {sample!r}"]


def _is_alike(sample: Any, real: Any, at: str) -> bool:
    if at in LITERAL:
        return bool(sample == real)
    if isinstance(sample, str):
        word = re.split(r"\W", sample, maxsplit=1)[0].lower()
        if word in DESCRIBED:
            return DESCRIBED[word](real)
        return isinstance(real, str) and _is_uuid(sample) <= _is_uuid(real) and _is_moment(sample) <= _is_moment(real)
    if isinstance(sample, bool):
        return sample is real
    return isinstance(real, int | float if isinstance(sample, float) else type(sample)) and not isinstance(real, bool)


def _is_uuid(text: Any) -> bool:
    try:
        return bool(UUID(text))
    except (ValueError, AttributeError, TypeError):
        return False


def _is_moment(text: Any) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except (ValueError, TypeError):
        return False
