"""JSON in which prices are numbers, digit by digit: nothing goes through a float."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import HttpResponse

from crawler.bots.exact import as_number
from crawler.bots.rendering import iso

# No text that we keep has a null character, so one marks what must lose its quotes.
MARK = "\0"
QUOTED_MARK = json.dumps(MARK)[1:-1]


def dumps(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=_written)
    return text.replace(f'"{QUOTED_MARK}', "").replace(f'{QUOTED_MARK}"', "")


def _written(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{MARK}{as_number(value)}{MARK}"
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def answer(value: Any, status: int = 200) -> HttpResponse:
    return HttpResponse(dumps(value), content_type="application/json", status=status)
