"""What can go wrong between a bot and its server. The tree is drawn in the package's docstring."""

from __future__ import annotations

from typing import Any


class BotError(Exception):
    """Everything the client raises."""


class ConfigurationError(BotError, ValueError):
    """The address, the bot's id or its token is missing or makes no sense."""


class InvalidResult(BotError, ValueError):
    """A result that the server would refuse; the message names the field."""


class TemporaryError(BotError):
    """Nobody knows what came of the request, or it was put off: sending the same again is right."""

    retry_after_seconds: float | None = None


class Unreachable(TemporaryError):
    """No answer: connection refused or broken off, a name that does not resolve, a time-out. With `was_sent` the
    server may have done what it was asked for."""

    def __init__(self, message: str, was_sent: bool = False) -> None:
        super().__init__(message)
        self.was_sent = was_sent


class ServerError(TemporaryError):
    """The server failed (5xx), or something between answered that is not our server."""


class PutOff(TemporaryError):
    """Too many requests (429), or the first request with this key is still running (409)."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Refused(BotError):
    """The server understood and said no. `status` is that of HTTP, `code` the server's word for it, `fields` the
    reasons by field when the request was wrong."""

    def __init__(self, message: str, status: int = 400, code: str = "", fields: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.fields = status, code, fields or {}


class AuthenticationError(Refused):
    """Missing or wrong credentials (401), or a bot that is switched off (403)."""


class InvalidRequest(Refused):
    """A field is wrong; nothing was done."""


class TooLarge(Refused):
    """The request is bigger than the server takes (413); nothing was done."""


class JobNotFound(Refused):
    """There is no such job."""


class JobNotLocked(Refused):
    """The job was answered before, or given back."""


class NotAssigned(Refused):
    """Another bot has the job now, or it was pulled again since."""


class LockExpired(Refused):
    """The answer came too late."""


BY_CODE: dict[str, type[Refused]] = {
    "authentication_error": AuthenticationError,
    "validation_error": InvalidRequest,
    "job_not_found": JobNotFound,
    "job_not_locked": JobNotLocked,
    "not_assigned": NotAssigned,
    "lock_expired": LockExpired,
}
# The job is somebody else's matter now: the answer cannot be brought home.
LOST = (JobNotFound, JobNotLocked, NotAssigned, LockExpired)


def refusal(status: int, body: dict[str, Any]) -> Refused:
    """What the server said, from its words `error` and `detail`."""
    code, detail = str(body.get("error", "")), body.get("detail", "")
    fields = detail if isinstance(detail, dict) else {}
    message = "; ".join(f"{name}: {_joined(reasons)}" for name, reasons in fields.items()) or str(detail) or code
    message = message or f"HTTP {status}"
    if status == 413:
        return TooLarge(message, status, code, fields)
    kind = BY_CODE.get(code, AuthenticationError if status == 401 else Refused)
    return kind(message, status, code, fields)


def _joined(reasons: Any) -> str:
    return " ".join(map(str, reasons)) if isinstance(reasons, list) else str(reasons)
