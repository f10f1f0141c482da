"""Everything between "start" and the first process: each obstacle is one line that says what to do."""

from __future__ import annotations

import os
import socket
import tempfile

from django.db import DatabaseError, InterfaceError

from crawler.foundation.config import Config, Database
from crawler.project.migrations import pending_migrations, unknown_migrations


class StartupProblem(Exception):
    """A reason not to start, worded for the person at the terminal."""


class ServerUnreachable(Exception):
    """The database server's or its driver's own words."""


def check_home(config: Config) -> None:
    """CRAWLER_HOME exists, is a folder and can be written."""
    try:
        config.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=config.home):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise StartupProblem(f"cannot write to {config.home}: {reason}; set CRAWLER_HOME to a folder you own") from None


def check_database(config: Config) -> None:
    """The database answers, and was not written by a newer version."""
    try:
        probe_server(config.database_url)
        unknown = unknown_migrations()
    except (DatabaseError, InterfaceError, ServerUnreachable) as error:
        raise StartupProblem(f"cannot use the database {config.database_url}: {first_line(error)}") from None
    if unknown:
        app, name = unknown[-1]
        raise StartupProblem(
            f"the database {config.database_url} is newer than this code (it has {app}.{name}); upgrade crawlspace"
        )


def probe_server(database: Database) -> None:
    """One direct connection: the pool would try for half a minute and then not say why."""
    if database.vendor != "postgresql":
        return
    import psycopg

    login = {"user": database.user or None, "password": database.password or None}
    place = {"host": database.host or None, "port": database.port or None, "dbname": database.name}
    try:
        psycopg.connect(**{"connect_timeout": "10", **database.options, **login, **place}).close()  # type: ignore[arg-type]
    except psycopg.Error as error:
        raise ServerUnreachable(str(error)) from None


def check_migrated() -> None:
    if pending := pending_migrations():
        raise StartupProblem(f"the database lacks {len(pending)} migrations; run: crawler migrate")


def check_port(config: Config) -> None:
    """Nobody listens where our server is to listen."""
    family = socket.AF_INET6 if ":" in config.bind_address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.bind_address, config.port))
        except OSError as error:
            place = f"port {config.port} on {config.bind_address}"
            raise StartupProblem(
                f"cannot listen on {place}: {os.strerror(error.errno or 0)}; set PORT to another"
            ) from None


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
