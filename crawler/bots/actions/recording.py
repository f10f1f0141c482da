"""Checked fields and audit lines for what people do."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model

from crawler.accounts import audit
from crawler.accounts.actors import Actor
from crawler.foundation.errors import InvalidInput


def check_fields(row: Model) -> None:
    """Raises InvalidInput that names every wrong field."""
    try:
        row.clean_fields(exclude={field.name for field in row._meta.fields if not field.editable})
    except ValidationError as error:
        fields = error.message_dict
        field, reasons = next(iter(fields.items()))
        raise InvalidInput(field=field, reason=" ".join(reasons), fields=fields) from None


def facts(row: Model, names: tuple[str, ...]) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in names}
    return {name: str(value) if isinstance(value, datetime) else value for name, value in values.items()}


def record_change(by: Actor, row: Model, before: dict[str, Any], after: dict[str, Any], reason: str = "") -> None:
    """Nothing when nothing changed."""
    old, new = audit.changes(before, after)
    if new:
        audit.record(by, "changed", row, reason=reason, before=old, after=new)
