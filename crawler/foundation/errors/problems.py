"""The problems an API can answer with. What they look like is the business of `render`."""

from __future__ import annotations

from typing import Any


class Problem(Exception):
    """Raised anywhere below a view; `code` is the crawl API's name for it unless given."""

    status = 500
    code = "INTERNAL_ERROR"
    message = "Something went wrong on our side"

    def __init__(
        self,
        message: str = "",
        *,
        field: str | None = None,
        reason: str | None = None,
        code: str | None = None,
        fields: dict[str, list[str]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.message = message or type(self).message
        super().__init__(self.message)
        self.field = field
        self.reason = reason
        self.code = code or type(self).code
        # Every wrong field with its reasons, where more than one may be wrong.
        self.fields = fields or ({field: [reason or self.message]} if field else {})
        self.headers = headers or {}

    @property
    def details(self) -> dict[str, Any]:
        pairs = {"field": self.field, "reason": self.reason}
        return {name: value for name, value in pairs.items() if value is not None}


class InvalidInput(Problem):
    status = 400
    code = "INVALID_INPUT"
    message = "Request validation failed"


class KeyReused(InvalidInput):
    status = 422
    message = "This Idempotency-Key was used with another request body"


class Unauthenticated(Problem):
    status = 401
    code = "UNAUTHORIZED"
    message = "Send a valid API token as Authorization: Bearer TOKEN"

    def __init__(self, message: str = "", **rest: Any) -> None:
        super().__init__(message, **({"headers": {"WWW-Authenticate": 'Bearer realm="crawlspace"'}} | rest))


class Forbidden(Problem):
    status = 403
    code = "FORBIDDEN"
    message = "Your role does not allow this"


class NotFound(Problem):
    status = 404
    code = "NOT_FOUND"
    message = "There is nothing at this address"


class MethodNotAllowed(Problem):
    status = 405
    code = "METHOD_NOT_ALLOWED"
    message = "This address does not take this method"


class Conflict(Problem):
    status = 409
    code = "CONFLICT"
    message = "This conflicts with what is there already"


class TooLarge(Problem):
    status = 413
    code = "PAYLOAD_TOO_LARGE"
    message = "The request body is too large"


class RateLimited(Problem):
    status = 429
    code = "RATE_LIMITED"
    message = "Rate limit exceeded"


class Internal(Problem):
    pass


class Unavailable(Problem):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    message = "The service is temporarily unavailable"


KINDS: tuple[type[Problem], ...] = (
    InvalidInput, Unauthenticated, Forbidden, NotFound, MethodNotAllowed, Conflict, TooLarge, KeyReused,
    RateLimited, Internal, Unavailable,
)  # fmt: skip


def problem_for_status(status: int) -> Problem:
    """The plain problem for a status that something below us answered with."""
    for kind in KINDS:
        if kind.status == status:
            return kind()
    return Internal() if status >= 500 else InvalidInput()
