import json
from typing import Annotated

import typer

from crawler.cli.tables import print_table
from crawler.foundation.config import SETTINGS, Config, load


def config(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Print the settings in force and where each came from. Secrets are masked."""
    rows = list_rows(load())
    if as_json:
        print(json.dumps({name: {"value": value, "origin": origin} for name, value, origin, _ in rows}, indent=2))
        return
    print_table(("setting", "value", "from", "meaning"), rows)


def list_rows(found: Config) -> list[tuple[str, str, str, str]]:
    rows = [("CRAWLER_HOME", str(found.home), found.origins["CRAWLER_HOME"], "folder of database, archive, logs")]
    for setting in SETTINGS:
        origin = found.origins[setting.name]
        if setting.name == "SECRET_KEY" and not found.secret_key:
            origin = str(found.home / "secret_key")
        rows.append((setting.name, shown(found, setting.name, setting.secret), origin, setting.help))
    return rows


def shown(found: Config, name: str, secret: bool) -> str:
    if secret:
        return "***"
    if name == "DATABASE_URL":
        return str(found.database_url)
    return mask_password(found.texts[name])


def mask_password(text: str) -> str:
    """`redis://user:password@host` without the password."""
    scheme, separator, rest = text.partition("://")
    login, at, place = rest.rpartition("@")
    if not (separator and at):
        return text
    return f"{scheme}://{login.partition(':')[0]}:***@{place}"
