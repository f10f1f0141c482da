"""Errors, once for every API family.

Code raises one of these; the family of the path decides what the answer looks like:

    Problem                 anything an API answers instead of a result
    ├── InvalidInput        400  the request is wrong; names the field
    │   └── KeyReused       422  an Idempotency-Key came back with another body
    ├── Unauthenticated     401  no or wrong credentials
    ├── Forbidden           403  known, but not allowed
    ├── NotFound            404
    ├── MethodNotAllowed    405
    ├── Conflict            409
    ├── TooLarge            413  the body is larger than we read
    ├── RateLimited         429  carries Retry-After
    ├── Internal            500  a defect of ours; says nothing but the request's id
    └── Unavailable         503

    /api/v1/…         crawls    {"error": {"code", "message", "details", "request_id"}}
    /api/v1/admin/…   sources   {"error": "text", "code": "CODE"}
    /api/crawl/…      bots      {"success": false, "error": "code", "detail": …}
"""

from crawler.foundation.errors.families import Family, family_of
from crawler.foundation.errors.problems import (
    Conflict,
    Forbidden,
    Internal,
    InvalidInput,
    KeyReused,
    MethodNotAllowed,
    NotFound,
    Problem,
    RateLimited,
    TooLarge,
    Unauthenticated,
    Unavailable,
    problem_for_status,
)
from crawler.foundation.errors.render import is_rendered, render

__all__ = [
    "Conflict",
    "Family",
    "Forbidden",
    "Internal",
    "InvalidInput",
    "KeyReused",
    "MethodNotAllowed",
    "NotFound",
    "Problem",
    "RateLimited",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "family_of",
    "is_rendered",
    "problem_for_status",
    "render",
]
