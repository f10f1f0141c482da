"""How the operations of /api/crawl are described to readers of its OpenAPI document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from crawler.bots.schemas import ErrorOut

REF = "#/components/schemas/{model}"


def described(takes: type[BaseModel], gives: dict[int, type[BaseModel]]) -> dict[str, Any]:
    """An operation's request and answers; the shapes themselves are in `components`."""
    responses: dict[Any, Any] = {
        status: {"description": "OK", "content": _json(shape)} for status, shape in gives.items()
    }
    responses["default"] = {"description": "A problem; `error` says which", "content": _json(ErrorOut)}
    return {"requestBody": {"required": True, "content": _json(takes)}, "responses": responses}


def _json(shape: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": REF.format(model=shape.__name__)}}}


def components(shapes: list[type[BaseModel]]) -> dict[str, Any]:
    """Every shape by its name, with the shapes inside it."""
    found: dict[str, Any] = {}
    for shape in shapes:
        described_shape = shape.model_json_schema(ref_template=REF)
        found |= described_shape.pop("$defs", {})
        found[shape.__name__] = described_shape
    return dict(sorted(found.items()))
