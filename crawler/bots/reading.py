"""Requests as they come in: JSON, credentials, fields. Complaints are worded per field."""

from __future__ import annotations

from typing import Any, TypeVar

from django.http import HttpRequest
from pydantic import BaseModel, ValidationError

from crawler.bots.answers import Credentials, wrong_credentials
from crawler.bots.exact import load_json
from crawler.bots.tokens import digest
from crawler.foundation.errors import InvalidInput, Unauthenticated

Shape = TypeVar("Shape", bound=BaseModel)

REQUIRED = "This field is required."
MESSAGES = {
    "missing": REQUIRED,
    "string_type": "Not a valid string.",
    "uuid_parsing": "Must be a valid UUID.",
    "uuid_type": "Must be a valid UUID.",
    "bool_type": "Must be a valid boolean.",
    "int_type": "A valid integer is required.",
    "int_parsing": "A valid integer is required.",
    "int_from_float": "A valid integer is required.",
    "finite_number": "A valid number is required.",
    "string_unicode": "Not valid Unicode: it has half a surrogate pair.",
    "float_type": "A valid number is required.",
    "float_parsing": "A valid number is required.",
    "string_too_long": "Ensure this field has no more than {max_length} characters.",
    "greater_than_equal": "Ensure this value is greater than or equal to {ge}.",
    "list_type": "Expected a list of items.",
    "dict_type": "Expected a dictionary of items.",
    "too_short": "Ensure this field has at least {min_length} elements.",
    "too_long": "Ensure this field has no more than {max_length} elements.",
}
IN_THE_BODY = ("bot_id", "api_token")
TOO_DEEP = "It is nested too deeply."


def body_of(request: HttpRequest) -> dict[str, Any]:
    if encoding := request.headers.get("Content-Encoding", "").strip():
        raise refused({"body": [f"Send plain JSON; Content-Encoding {encoding[:40]} is not supported."]})
    try:
        body = load_json(request.body)
    except RecursionError:
        raise refused({"body": [f"JSON parse error - {TOO_DEEP}"]}) from None
    except ValueError as error:
        raise refused({"body": [f"JSON parse error - {error}"]}) from None
    if not isinstance(body, dict):
        raise refused({"body": [f"Expected a JSON object, not {type(body).__name__}."]})
    return body


def credentials_of(request: HttpRequest, body: dict[str, Any]) -> Credentials:
    """From the body, else from the header. Raises Unauthenticated that names what is missing."""
    scheme, _, bearer = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    bot_id, token = body.get("bot_id"), body.get("api_token")
    if not token and scheme.lower() == "bearer":
        token = bearer.strip()
    elif not bot_id or not token:
        missing = [name for name in IN_THE_BODY if not body.get(name)]
        raise Unauthenticated("Credentials are required", fields={name: [REQUIRED] for name in missing})
    if not isinstance(token, str) or not (bot_id is None or can_be_bot_id(bot_id)):
        raise wrong_credentials()
    return Credentials(bot_id or None, digest(token))


def can_be_bot_id(value: Any) -> bool:
    """Whether a database may be asked for it: no half characters, no null."""
    return isinstance(value, str) and value.isprintable()


def checked(shape: type[Shape], body: dict[str, Any]) -> Shape:
    """Raises InvalidInput with every wrong field."""
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        raise refused(complaints(error)) from None


def complaints(error: ValidationError) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for one in error.errors(include_url=False):
        if one["type"] == "missing_fields":
            fields |= {name: [REQUIRED] for name in one["ctx"]["fields"].split(",")}
            continue
        name = ".".join(str(part) for part in one["loc"]) or "body"
        fields.setdefault(name, []).append(_message(one))
    return fields


def _message(one: Any) -> str:
    if one["input"] is None and one["type"] != "missing":
        return "This field may not be null."
    form = MESSAGES.get(one["type"])
    return form.format(**one.get("ctx", {})) if form else str(one["msg"])


def refused(fields: dict[str, list[str]]) -> InvalidInput:
    field, reasons = next(iter(fields.items()))
    return InvalidInput(field=field, reason=" ".join(reasons), fields=fields)
