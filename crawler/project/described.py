"""The API's description, with the one error shape that every operation shares."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI, Schema
from ninja.openapi.schema import OpenAPISchema


class ErrorDetails(Schema):
    field: str | None = None
    reason: str | None = None


class ErrorBody(Schema):
    code: str
    message: str
    details: ErrorDetails
    request_id: str


class ErrorAnswer(Schema):
    """What every problem looks like, whatever its status."""

    error: ErrorBody


class DescribedAPI(NinjaAPI):
    def get_openapi_schema(self, *, path_prefix: str | None = None, path_params: Any = None) -> OpenAPISchema:
        described = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        shapes = ErrorAnswer.model_json_schema(ref_template="#/components/schemas/{model}")
        inner = shapes.pop("$defs")
        described["components"]["schemas"] |= {"ErrorAnswer": shapes, **inner}
        for operations in described["paths"].values():
            for operation in operations.values():
                operation["responses"]["default"] = error_response()
        return described


def error_response() -> dict[str, Any]:
    shape = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}}
    return {"description": "A problem; `error.code` says which", "content": shape}
