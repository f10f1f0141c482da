"""DATABASE_URL as Django wants it."""

from __future__ import annotations

from typing import Any

from crawler.foundation.config import Config, Database

# WAL lets readers go on beside the one writer; NORMAL keeps every commit through kill -9 and FULL through
# a power cut too (sqlite:///path?synchronous=FULL), at one fsync a commit. The log is copied back every 32 MB: a worker
# writes several a minute, and pages that change again and again are copied once.
PRAGMAS = (
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};"
    " PRAGMA temp_store = MEMORY; PRAGMA cache_size = -64000; PRAGMA wal_autocheckpoint = 8000;"
)


def django_database(config: Config) -> dict[str, Any]:
    database = config.database_url
    return _sqlite(database) if database.vendor == "sqlite" else _postgresql(database, config)


def _sqlite(database: Database) -> dict[str, Any]:
    synchronous = database.options.get("synchronous", "NORMAL").upper()
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": database.name,
        "OPTIONS": {
            # A transaction that reads first and writes later would fail with "database is locked"
            # when another writer came in between; taking the write lock first makes it wait instead.
            "transaction_mode": "IMMEDIATE",
            "timeout": int(database.options.get("timeout", "30")),
            "init_command": PRAGMAS.format(synchronous=synchronous),
        },
        "CONN_MAX_AGE": None,
    }


def _postgresql(database: Database, config: Config) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database.name,
        "HOST": database.host,
        "PORT": database.port,
        "USER": database.user,
        "PASSWORD": database.password,
        "OPTIONS": {
            **database.options,
            "connect_timeout": int(database.options.get("connect_timeout", "10")),
            # After an outage the pool would wait ever longer between attempts; given up, the next request makes one.
            "pool": {"min_size": 1, "max_size": config.server_threads + 4, "timeout": 5, "reconnect_timeout": 3},
            # Django turns prepared statements off; with bound parameters they save the planner's time.
            "server_side_binding": True,
            "prepare_threshold": 5,
        },
    }
