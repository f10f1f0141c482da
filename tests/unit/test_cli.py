"""Commands as a person types them, against the tests' database."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from crawler.accounts import actions, tokens
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import ApiToken, AuditEntry, User
from crawler.cli import app

pytestmark = pytest.mark.django_db
runner = CliRunner()


@pytest.fixture(autouse=True)
def no_second_setup(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django is up already, and the probe of the server is for the real start."""
    for module in ("token", "user"):
        monkeypatch.setattr(f"crawler.cli.{module}.load_django", lambda: None)


@pytest.fixture
def admin() -> User:
    return actions.create_user(SYSTEM, "admin", role="admin")


def run(*words: str) -> str:
    result = runner.invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_token_from_the_command_line_works_until_it_is_revoked(admin: User) -> None:
    text = run("token", "create", "--name", "export", "--expires", "90d").strip()
    token = tokens.find(text)
    assert token is not None
    assert (token.name, token.user, token.expires_at is not None) == ("export", admin, True)
    assert AuditEntry.objects.filter(actor_kind="cli", action="issued").exists()
    listing = run("token", "list")
    assert token.prefix in listing
    assert "live" in listing
    assert run("token", "revoke", text, "--reason", "leaked") == f"{token.prefix} is revoked\n"
    assert tokens.find(text) is None
    assert run("token", "revoke", token.prefix) == f"{token.prefix} was revoked before\n"
    assert AuditEntry.objects.get(action="revoked").reason == "leaked"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("token", "create", "--user", "ghost"), "there is no user 'ghost'"),
        (("token", "create", "--expires", "soon"), "--expires: 'soon' is neither"),
        (("token", "create", "--expires", "2020-01-01"), "--expires: 2020-01-01 is in the past"),
        (("token", "revoke", "cs_nothing"), "there is no token 'cs_nothing'"),
        (("user", "create", "x", "--role", "king"), "--role: 'king' is unknown"),
        (("user", "password", "ghost"), "there is no user 'ghost'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    admin: User, words: tuple[str, ...], complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    result = runner.invoke(app, words)
    assert result.exit_code in (1, 2)
    assert complaint in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not ApiToken.objects.exists()


def test_users_from_the_command_line(admin: User) -> None:
    made = re.search(r"password  (\S+)", run("user", "create", "eva", "--role", "operator"))
    assert made
    eva = User.objects.get(username="eva")
    assert eva.check_password(made[1])
    changed = re.search(r"password  (\S+)", run("user", "password", "eva"))
    assert changed
    eva.refresh_from_db()
    assert eva.check_password(changed[1])
    assert re.search(r"eva\s+operator\s+yes", run("user", "list"))


def test_version() -> None:
    assert run("version").startswith("crawlspace 0.")


def test_config_prints_every_setting() -> None:
    assert '"PORT"' in run("config", "--json")
    assert "DATABASE_URL" in run("config")
