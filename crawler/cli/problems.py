"""What a person at the terminal sees when something is in the way: one line, and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from crawler.foundation.config import InvalidSetting

FAILED, MISUSED = 1, 2


def fail(message: str, code: int = FAILED) -> NoReturn:
    print(f"crawler: {message}", file=sys.stderr)
    sys.exit(code)


@contextmanager
def explained() -> Iterator[None]:
    try:
        yield
    except InvalidSetting as error:
        fail(str(error), MISUSED)
    except OSError as error:
        if error.filename is None:
            raise
        fail(f"cannot use {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if line := _of_django(error):
            fail(line)
        raise


def _of_django(error: Exception) -> str:
    """Asked late, so that commands without Django do not load it."""
    if "django.db" not in sys.modules:
        return ""
    from django.db import Error

    from crawler.foundation.errors import Problem
    from crawler.project.startup import StartupProblem, first_line

    if isinstance(error, StartupProblem):
        return str(error)
    if isinstance(error, Problem):
        return f"{error.field}: {error.reason}" if error.field else error.message
    if isinstance(error, Error):
        return f"the database cannot be used: {first_line(error)}"
    return ""
