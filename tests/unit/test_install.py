"""What `make run` and `make test` decide before they install; installing itself is pip's business."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "install.py"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script with a checkout of its own, whose steps are written down instead of done."""
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    venv = tmp_path / ".venv"
    for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock", "requirements-bench.lock"):
        (tmp_path / name).write_text(name)
    changes = {
        "ROOT": tmp_path,
        "VENV": venv,
        "PYTHON": venv / "bin" / "python",
        "INSTALLING": venv / "installing",
        "LOCKS": {name: tmp_path / path.name for name, path in module.LOCKS.items()},
        "done": [],
        "healthy": lambda: venv.exists(),
    }
    for name, value in changes.items():
        monkeypatch.setattr(module, name, value, raising=False)
    monkeypatch.setattr(module, "create_environment", creation(module, venv))
    monkeypatch.setattr(module, "install", lambda lock: module.done.append(lock.name))
    return module


def creation(module: ModuleType, venv: Path) -> Callable[[], None]:
    def create() -> None:
        module.done.append("new")
        (venv / "bin").mkdir(parents=True, exist_ok=True)
        (venv / "bin" / "python").touch()
        (venv / "installing").unlink(missing_ok=True)

    return create


def test_the_first_run_creates_and_installs_and_the_next_does_nothing(script: ModuleType) -> None:
    script.main("run")
    script.main("run")
    assert script.done == ["new", "requirements.lock"]


def test_the_test_tools_include_what_running_needs(script: ModuleType) -> None:
    script.main("dev")
    script.main("run")
    assert script.done == ["new", "requirements-dev.lock"]
    script.main("dev")
    assert script.done == ["new", "requirements-dev.lock"]


def test_running_first_and_testing_later_adds_to_the_same_environment(script: ModuleType) -> None:
    script.main("run")
    script.main("dev")
    assert script.done == ["new", "requirements.lock", "requirements-dev.lock"]


def test_a_killed_install_is_started_afresh(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(lock: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(script, "install", killed)
        with pytest.raises(KeyboardInterrupt):
            script.main("run")
    script.main("run")
    assert script.done == ["new", "new", "requirements.lock"]


@pytest.mark.parametrize("changed", ["requirements.lock", "pyproject.toml"])
def test_new_pins_are_installed(script: ModuleType, changed: str) -> None:
    script.main("run")
    (script.ROOT / changed).write_text("something else")
    script.main("run")
    assert script.done == ["new", "requirements.lock", "requirements.lock"]
