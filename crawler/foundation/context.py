"""What the current request is called: set once by the middleware, read by logs, errors and the audit log."""

from __future__ import annotations

from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
