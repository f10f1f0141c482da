#!/usr/bin/env python
"""Django's own commands (migrate, shell, …) with the platform's settings."""

import os
import sys

from crawler.foundation.config import InvalidSetting


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.project.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except InvalidSetting as error:
        sys.exit(f"manage.py: {error}")


if __name__ == "__main__":
    main()
