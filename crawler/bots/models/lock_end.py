"""`locked_at` + `lock_ttl_seconds` + `lock_extension_seconds`, kept by the database itself."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import F, Func


class LockEnd(Func):
    """Never out of step with the columns it is made of, whoever changes them."""

    output_field = models.DateTimeField()

    def __init__(self, *expressions: Any, **extra: Any) -> None:
        columns = expressions or (F("locked_at"), F("lock_ttl_seconds"), F("lock_extension_seconds"))
        super().__init__(*columns, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # For all PostgreSQL knows, adding an interval depends on the session's time zone; adding seconds does not.
        seconds = "extract(epoch FROM {0} - to_timestamp(0))::double precision"
        sql, params = self._sum(compiler, f"{seconds} + {{1}} + {{2}}")
        return f"to_timestamp({sql})", params

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self._sum(compiler, "strftime('%%Y-%%m-%%d %%H:%%M:%%f', {0}, ({1} + {2}) || ' seconds')")

    def _sum(self, compiler: Any, form: str) -> tuple[str, list[Any]]:
        parts = [compiler.compile(expression) for expression in self.get_source_expressions()]
        return form.format(*(sql for sql, _ in parts)), [value for _, values in parts for value in values]
