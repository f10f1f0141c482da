"""The beginning of a URL, as products are sorted and searched by it."""

from __future__ import annotations

from typing import Any

from django.db.models import Func, TextField

START_LETTERS = 100  # an index takes no text of any length
START = {
    "postgresql": f'left({{url}}, {START_LETTERS}) COLLATE "C"',  # letter by letter, whatever the database's language
    "sqlite": f"substr({{url}}, 1, {START_LETTERS})",
}


class UrlStart(Func):
    """The first hundred letters of a text, compared byte by byte on both databases."""

    output_field = TextField()

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> Any:
        sql, params = compiler.compile(self.get_source_expressions()[0])
        return START[connection.vendor].format(url=sql), params
