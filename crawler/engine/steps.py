"""What an answer means for its URL and its host: pure decisions, as tables and short functions."""

from __future__ import annotations

from typing import Final, NamedTuple

from crawler.fetch.outcome import Failure, FailureKind

# Statuses that may be otherwise in a while. 429 and 503 are the server's own "later".
LATER: Final = frozenset({429, 503})
RETRIED: Final = frozenset({408, 425, 500, 502, 504, 520, 521, 522, 523, 524, 527})
DENIED: Final = frozenset({401, 402, 403, 407, 451})
FIRST_RETRY_SECONDS: Final = 2.0
LONGEST_RETRY_SECONDS: Final = 3600.0
# A server that says "later" again and again is believed longer than one that breaks.
LATER_ATTEMPTS_FACTOR: Final = 4

# Errors in a row after which a domain is left alone.
ERRORS_UNTIL_BLOCKED: Final = 25
FAILURES_UNTIL_UNREACHABLE: Final = 3
BLOCK_CODES: Final = {401: "login_required", 403: "forbidden", 407: "login_required", 429: "rate_limited"}


class Step(NamedTuple):
    """What to do with the URL now."""

    status: str  # pending (again) or failed
    after_seconds: float = 0.0


def after_status(status: int, failures: int, max_attempts: int) -> Step:
    """`failures` counts this one."""
    if status in LATER:
        return _again(failures, max_attempts * LATER_ATTEMPTS_FACTOR)
    if status in RETRIED:
        return _again(failures, max_attempts)
    return Step("failed")


def after_failure(failure: Failure, failures: int, max_attempts: int) -> Step:
    return _again(failures, max_attempts) if failure.temporary else Step("failed")


def _again(failures: int, max_attempts: int) -> Step:
    if failures >= max_attempts:
        return Step("failed")
    return Step("pending", min(FIRST_RETRY_SECONDS * 2 ** (failures - 1), LONGEST_RETRY_SECONDS))


def is_hosts_error(status: int) -> bool:
    """Errors that speak against the host, not the URL."""
    return status in LATER or status in DENIED or status >= 500


def block_code(status: int | None, failure: Failure | None, errors_in_a_row: int) -> str | None:
    """Why the domain is to be left alone now, or None."""
    if failure is not None and failure.kind in (FailureKind.DNS, FailureKind.CONNECT, FailureKind.TLS):
        if errors_in_a_row >= FAILURES_UNTIL_UNREACHABLE:
            return "dns_failure" if failure.kind is FailureKind.DNS else "connection_failed"
        return None
    if errors_in_a_row < ERRORS_UNTIL_BLOCKED:
        return None
    if failure is not None:
        return "connection_failed"
    return BLOCK_CODES.get(status or 0, "server_errors")
