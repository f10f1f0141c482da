"""The wheel, installed away from the checkout, is the whole platform."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.faults.platform import Platform

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    return next(folder.glob("crawlspace-*.whl"))


def test_it_holds_the_package_and_its_licence_only(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"crawler", "crawlspace"}
    assert not [name for name in names if "__pycache__" in name]


def test_it_runs_outside_the_checkout(wheel: Path, platform: Platform, tmp_path: Path) -> None:
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        tmp_path / "site",
    ]
    subprocess.run([*pip, wheel], check=True)
    platform.settings["PYTHONPATH"] = str(tmp_path / "site")
    platform.folder = tmp_path
    where = [sys.executable, "-c", "import crawler; print(crawler.__file__)"]
    found = subprocess.run(where, env=platform.environment, cwd=tmp_path, capture_output=True, text=True).stdout
    assert found.startswith(str(tmp_path))
    platform.up()
    assert platform.ask("/readyz").status == 200
    assert b"Crawlspace" in platform.ask("/login/").body
    assert platform.ask("/static/dashboard/crawlspace.css").status == 200
    assert platform.ask("/static/unfold/css/styles.css").status == 200
    assert platform.ask("/api/v1/docs").status == 200
