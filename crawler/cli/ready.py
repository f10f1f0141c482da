"""Brings Django up for a command, after the checks that give better messages than Django would."""

from __future__ import annotations

import os

from crawler.foundation.config import Config, load


def load_django(*, migrated: bool = True) -> Config:
    """Settings read, home writable, database reachable and not newer than us; by default also up to date."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.project.settings")
    from crawler.project import startup

    startup.check_home(load())
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection

    config: Config = settings.CRAWLSPACE
    startup.check_database(config)
    if migrated:
        startup.check_migrated()
    connection.close()  # not kept through a long life that may not need it
    return config
