"""Reads the settings: defaults, then CRAWLER_HOME/settings.env, then the environment."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crawler.foundation.config.parsers import Database, InvalidSetting, Network
from crawler.foundation.config.table import SETTINGS, Setting

CHECKOUT = Path(__file__).resolve().parents[3]
HOME = "CRAWLER_HOME"
# Names that look like settings and are read elsewhere: by bots, by the tests, by benchmarks.
OTHER_NAMES = frozenset({HOME, "CRAWLER_URL", "CRAWLER_VECTORS", "CRAWLER_SPEC", "CRAWLER_PRICE", "CRAWLER_CORPORA"})
OWN_PREFIXES = ("CRAWLER_", "RATE_LIMIT_", "FETCH_")


@dataclass(frozen=True)
class Config:
    """The settings in force. One attribute a row of the table, lower case."""

    home: Path
    database_url: Database
    redis_url: str | None
    archive_url: str
    secret_key: str = field(repr=False)
    bind_address: str
    port: int
    allowed_hosts: tuple[str, ...]
    public_url: str
    trusted_proxies: tuple[Network, ...]
    admin_path: str
    server_threads: int
    server_processes: int
    log_level: str
    rate_limit_jobs: int
    rate_limit_data: int
    rate_limit_monitoring: int
    rate_limit_bots: int
    bot_jobs_keep_days: int
    enable_domain_tracking: bool
    enable_per_domain_budget: bool
    enable_smart_scheduling: bool
    enable_claim_protocol: bool
    enable_refresh_mode: bool
    user_agent: str
    tracking_params: tuple[str, ...]
    fetch_allowed_networks: tuple[Network, ...]
    # Where each value came from, and its text as written, for `crawler config`.
    origins: Mapping[str, str] = field(repr=False)
    texts: Mapping[str, str] = field(repr=False)

    @property
    def base_url(self) -> str:
        """The address a person opens, without a slash at the end."""
        if self.public_url:
            return self.public_url
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - a name for it, nothing is bound
        host = everywhere.get(self.bind_address, self.bind_address)
        return f"http://{f'[{host}]' if ':' in host and host[0] != '[' else host}:{self.port}"


def load(environ: Mapping[str, str] | None = None) -> Config:
    """The settings in force, or InvalidSetting."""
    environment = os.environ if environ is None else environ
    home = find_home(environment)
    written = read_settings_file(home / "settings.env")
    refuse_unknown_names(environment)
    values: dict[str, object] = {}
    origins = {HOME: "environment" if environment.get(HOME) else "default"}
    texts = {HOME: str(home)}
    for setting in SETTINGS:
        text, origin = pick(setting, environment, written, home)
        values[setting.name.lower()] = parse(setting, text)
        origins[setting.name], texts[setting.name] = origin, text
    return Config(home=home, origins=origins, texts=texts, **values)  # type: ignore[arg-type]


def find_home(environment: Mapping[str, str]) -> Path:
    """CRAWLER_HOME, else var/ of the checkout, else var/ of the current folder."""
    if chosen := environment.get(HOME):
        return Path(chosen).expanduser().absolute()
    in_checkout = (CHECKOUT / "pyproject.toml").is_file() and (CHECKOUT / "manage.py").is_file()
    return (CHECKOUT if in_checkout else Path.cwd()) / "var"


def pick(setting: Setting, environment: Mapping[str, str], written: Mapping[str, str], home: Path) -> tuple[str, str]:
    if environment.get(setting.name):
        return environment[setting.name], "environment"
    if written.get(setting.name):
        return written[setting.name], "settings.env"
    return setting.default.replace("{home}", str(home)), "default"


def parse(setting: Setting, text: str) -> object:
    try:
        return setting.parse(text)
    except ValueError as error:
        raise InvalidSetting(setting.name, str(error)) from None


def read_settings_file(path: Path) -> dict[str, str]:
    """NAME=value lines; # starts a comment line; quotes around a value are dropped."""
    try:
        lines = path.read_text().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(str(path), f"cannot be read ({error})") from None
    pairs = [split_line(path, number, line) for number, line in enumerate(lines, 1) if is_content(line)]
    for name, _ in pairs:
        if name not in known_names():
            raise InvalidSetting(name, f"unknown setting in {path}{suggestion(name)}")
    return dict(pairs)


def is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def split_line(path: Path, number: int, line: str) -> tuple[str, str]:
    name, separator, value = line.removeprefix("export ").partition("=")
    if not separator:
        raise InvalidSetting(f"{path}:{number}", f"expected NAME=value, found {line.strip()!r}")
    value = value.strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return name.strip(), value[1:-1] if quoted else value


def refuse_unknown_names(environment: Mapping[str, str]) -> None:
    """A misspelt setting must not be ignored silently; other programs' variables must not stop us."""
    for name in environment:
        if name in known_names() or name in OTHER_NAMES:
            continue
        misspelt = name.startswith("ENABLE_") and suggestion(name)
        if name.startswith(OWN_PREFIXES) or misspelt:
            raise InvalidSetting(name, f"unknown setting in the environment{suggestion(name)}")


def suggestion(name: str) -> str:
    close = difflib.get_close_matches(name, [*known_names(), HOME], n=1, cutoff=0.8)
    return f"; did you mean {close[0]}?" if close else ""


def known_names() -> list[str]:
    return [setting.name for setting in SETTINGS]
