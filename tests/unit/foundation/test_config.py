from __future__ import annotations

import dataclasses
import stat
from pathlib import Path

import pytest

from crawler.cli.config import list_rows, mask_password
from crawler.foundation.config import SETTINGS, Config, InvalidSetting, ensure_secret_key, load
from crawler.foundation.config.parsers import database


def read(home: Path, **values: str) -> Config:
    return load({"CRAWLER_HOME": str(home), **values})


def test_defaults_keep_everything_in_the_home(tmp_path: Path) -> None:
    config = read(tmp_path)
    assert str(config.database_url) == f"sqlite:///{tmp_path}/crawlspace.sqlite3"
    assert config.archive_url == f"file://{tmp_path}/archive"
    assert (config.port, config.redis_url, config.fetch_allowed_networks) == (8005, None, ())
    assert config.base_url == "http://127.0.0.1:8005"
    assert config.admin_path == "/admin/secure-admin-2025/"


def test_flags_default_as_documented(tmp_path: Path) -> None:
    config = read(tmp_path)
    flags = ("domain_tracking", "per_domain_budget", "smart_scheduling", "claim_protocol", "refresh_mode")
    assert [getattr(config, f"enable_{flag}") for flag in flags] == [True, True, False, False, False]


def test_every_setting_is_an_attribute() -> None:
    attributes = {field.name for field in dataclasses.fields(Config)} - {"home", "origins", "texts"}
    assert attributes == {setting.name.lower() for setting in SETTINGS}


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("PORT", "eight", "whole number from 1 to 65535"),
        ("PORT", "70000", "whole number from 1 to 65535"),
        ("PORT", "-1", "whole number"),
        ("ENABLE_REFRESH_MODE", "maybe", "neither true nor false"),
        ("DATABASE_URL", "mysql://localhost/x", "'mysql' is not supported"),
        ("DATABASE_URL", "postgresql://localhost", "names no database"),
        ("DATABASE_URL", "postgresql://localhost:port/x", "not a port number"),
        ("DATABASE_URL", "postgresql://localhost/x?nonsense=1", "not a PostgreSQL URL"),
        ("DATABASE_URL", "sqlite://", "sqlite:////absolute/path"),
        ("DATABASE_URL", "sqlite:///:memory:", "cannot be shared"),
        ("DATABASE_URL", "sqlite:///x.db?mode=fast", "mode=fast is not an option"),
        ("REDIS_URL", "localhost:6379", "use redis://host:6379/0"),
        ("REDIS_URL", "redis://localhost:99999/0", "Port out of range"),
        ("ARCHIVE_URL", "ftp://x/y", "use s3://bucket/prefix"),
        ("ALLOWED_HOSTS", "http://example.com", "not a host name"),
        ("ADMIN_PATH", "/ad min/", "not a path"),
        ("BIND_ADDRESS", "localhost", "not an IP address"),
        ("FETCH_ALLOWED_NETWORKS", "10.0.0.0/99", "not a network"),
        ("LOG_LEVEL", "loud", "choose one of debug, info, warning, error"),
        ("USER_AGENT", "Bot\nX: y", "not a user agent"),
        ("PUBLIC_URL", "crawl.example.com", "not an address"),
        ("CRAWLER_HOEM", "x", "did you mean CRAWLER_HOME?"),
        ("RATE_LIMIT_JOB", "5", "did you mean RATE_LIMIT_JOBS?"),
        ("ENABLE_DOMAIN_TRAKING", "true", "did you mean ENABLE_DOMAIN_TRACKING?"),
        ("CRAWLER_ANYTHING", "x", "unknown setting"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, name: str, value: str, complaint: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        read(tmp_path, **{name: value})
    assert str(caught.value).startswith(f"{name}: ")
    assert complaint in str(caught.value)


def test_other_programs_variables_are_left_alone(tmp_path: Path) -> None:
    assert read(tmp_path, ENABLE_COLOURS="maybe", DATABASE_URI="x", PORTS="y", HOST="z").port == 8005


def test_an_empty_value_is_the_default(tmp_path: Path) -> None:
    assert read(tmp_path, PORT="", DATABASE_URL="").port == 8005


def test_values_are_parsed(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        FETCH_ALLOWED_NETWORKS="127.0.0.0/8, fd00::/8",
        TRACKING_PARAMS="a b,c",
        PUBLIC_URL="https://c.example/",
    )
    assert [str(network) for network in config.fetch_allowed_networks] == ["127.0.0.0/8", "fd00::/8"]
    assert config.tracking_params == ("a", "b", "c")
    assert config.base_url == "https://c.example"


def test_postgresql_url_is_taken_apart_and_its_password_kept_out_of_sight() -> None:
    found = database("postgres://me:p%40ss@db.example:5433/crawl?sslmode=require")
    assert (found.host, found.port, found.user, found.password, found.name) == (
        "db.example", "5433", "me", "p@ss", "crawl",
    )  # fmt: skip
    assert found.options == {"sslmode": "require"}
    assert str(found) == "postgresql://me:***@db.example:5433/crawl"
    assert "p@ss" not in repr(found)


def test_the_environment_wins_over_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / "settings.env").write_text("# mine\nPORT=9000\nexport LOG_LEVEL='debug'\n")
    config = read(tmp_path, PORT="9001")
    assert (config.port, config.log_level) == (9001, "debug")
    assert (config.origins["PORT"], config.origins["LOG_LEVEL"]) == ("environment", "settings.env")
    assert config.origins["USER_AGENT"] == "default"


@pytest.mark.parametrize(("line", "complaint"), [("PRT=1", "unknown setting"), ("PORT", "expected NAME=value")])
def test_a_wrong_line_in_the_settings_file_stops_the_start(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "settings.env").write_text(line)
    with pytest.raises(InvalidSetting, match=complaint):
        read(tmp_path)


def test_secret_key_is_made_once_and_private(tmp_path: Path) -> None:
    config = read(tmp_path / "new")
    key = ensure_secret_key(config)
    assert len(key) > 40
    assert ensure_secret_key(config) == key
    assert stat.S_IMODE((tmp_path / "new" / "secret_key").stat().st_mode) == 0o600
    assert ensure_secret_key(read(tmp_path, SECRET_KEY="chosen")) == "chosen"


def test_printed_settings_hide_secrets(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        SECRET_KEY="topsecret",
        REDIS_URL="redis://me:topsecret@r.example/0",
        DATABASE_URL="postgresql://me:topsecret@db.example/crawl",
        ARCHIVE_URL="s3://key:topsecret@bucket/x",
    )
    rows = list_rows(config)
    assert "topsecret" not in str(rows)
    assert [row[0] for row in rows] == ["CRAWLER_HOME", *(setting.name for setting in SETTINGS)]
    assert mask_password("redis://h/0") == "redis://h/0"
