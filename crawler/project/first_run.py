"""The first start makes an admin, a bot and their tokens and writes them down once."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from django.db import transaction

from crawler.accounts import actions
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import User
from crawler.accounts.roles import Role
from crawler.bots.actions import create_bot
from crawler.foundation.config import Config
from crawler.foundation.files import write_private

ADMIN_USER, BOT = "admin", "bot-001"


@dataclass(frozen=True)
class Credentials:
    """What a newcomer needs."""

    dashboard_url: str
    admin_url: str
    admin_user: str
    admin_password: str
    api_token: str
    bot_id: str
    bot_token: str


def credentials_path(config: Config) -> Path:
    return config.home / "credentials.json"


@transaction.atomic
def create_first_admin(config: Config) -> Credentials | None:
    """None when there are users already.

    The file is written before the commit: a crash in between leaves no user, and the next start writes both anew.
    """
    if User.objects.exists():
        return None
    password = secrets.token_urlsafe(12)
    admin = actions.create_user(SYSTEM, ADMIN_USER, password=password, role=Role.ADMIN)
    _, token = actions.issue_token(SYSTEM, admin, "first token")
    bot, bot_token = create_bot(SYSTEM, BOT, description="made by the first start")
    made = Credentials(
        **addresses(config),
        admin_user=admin.username,
        admin_password=password,
        api_token=token,
        bot_id=bot.bot_id,
        bot_token=bot_token,
    )
    write_private(credentials_path(config), json.dumps(asdict(made), indent=2) + "\n")
    return made


def addresses(config: Config) -> dict[str, str]:
    return {"dashboard_url": f"{config.base_url}/dashboard/", "admin_url": f"{config.base_url}{config.admin_path}"}


def refresh_addresses(config: Config) -> None:
    """Another PORT or PUBLIC_URL than at the first start: the file follows."""
    path = credentials_path(config)
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return  # gone or edited; the start tells where to get new ones
    if isinstance(kept, dict) and kept != (current := kept | addresses(config)):
        write_private(path, json.dumps(current, indent=2) + "\n")
