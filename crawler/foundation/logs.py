"""Logs: one JSON object a line on standard error, with the request's id where there is one."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from crawler.foundation import context

# What every LogRecord carries; anything else was passed in `extra` and belongs into the line.
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "request"}


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := context.request_id.get():
            line["request_id"] = request_id
        line |= {name: value for name, value in vars(record).items() if name not in STANDARD}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def configuration(level: str) -> dict[str, Any]:
    """For logging.config.dictConfig (Django's LOGGING)."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "crawler.foundation.logs.JsonLines"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
        "loggers": {
            "django.server": {"handlers": [], "propagate": True},
            # Requests are logged once, by our middleware, with their outcome.
            "django.request": {"level": "CRITICAL"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "_granian": {"level": "WARNING"},
        },
    }
