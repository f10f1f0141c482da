"""Every setting, command and address is written down where a newcomer looks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from crawler.cli import app
from crawler.foundation.config import SETTINGS
from crawler.project.api import api

ROOT = Path(__file__).resolve().parents[2]


def commands(command: Any, name: str) -> list[tuple[str, Any]]:
    inner = getattr(command, "commands", {})
    if not inner:
        return [(name, command)]
    return [found for word, sub in inner.items() for found in commands(sub, f"{name} {word}".strip())]


ALL_COMMANDS = commands(get_command(app), "")


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_is_documented(setting: object) -> None:
    name, default = getattr(setting, "name", ""), getattr(setting, "default", "")
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    row = re.search(rf"^\| `{name}` \|.*$", page, re.MULTILINE)
    assert row, f"{name} is missing"
    assert default.replace("{home}", "$CRAWLER_HOME") in row[0] or name == "USER_AGENT"


@pytest.mark.parametrize(("name", "command"), ALL_COMMANDS, ids=[name for name, _ in ALL_COMMANDS])
def test_every_command_is_documented(name: str, command: Any) -> None:
    page = (ROOT / "docs" / "reference" / "commands.md").read_text()
    section = re.search(rf"^## `crawler {name}`$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section, f"crawler {name} is missing"
    assert command.help, "and says itself what it does"
    for parameter in command.params:
        if not getattr(parameter, "hidden", False) and parameter.name != "help":
            assert any(option in section[1] for option in (*parameter.opts, parameter.name.upper())), parameter.name


def test_every_api_path_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    missing = [path for path in api.get_openapi_schema()["paths"] if path not in page]
    assert not missing


def test_every_decision_is_listed() -> None:
    index = (ROOT / "docs" / "adr" / "README.md").read_text()
    written = [file.name for file in (ROOT / "docs" / "adr").glob("[0-9]*.md")]
    assert written
    assert not [name for name in written if name not in index]


def test_links_between_documents_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken = []
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken
