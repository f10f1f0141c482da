"""The life of a domain.

pending      known, not crawled yet, or due again
active       being crawled, or partly crawled
exhausted    every URL known of it was dealt with; waits for its refresh
blocked      refuses us; waits for its cooldown
unreachable  does not answer; waits for its cooldown
"""

from __future__ import annotations

from enum import StrEnum


class DomainStatus(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    EXHAUSTED = "exhausted"
    BLOCKED = "blocked"
    UNREACHABLE = "unreachable"


class BlockReason(StrEnum):
    """Why a domain is blocked or unreachable; the cooldown goes by it."""

    LOGIN_REQUIRED = "login_required"
    RATE_LIMITED = "rate_limited"
    FORBIDDEN = "forbidden"
    ROBOTS_DENIED = "robots_denied"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    SERVER_ERRORS = "server_errors"
    DNS_FAILURE = "dns_failure"
    CONNECTION_FAILED = "connection_failed"


UNREACHABLE = frozenset({BlockReason.DNS_FAILURE, BlockReason.CONNECTION_FAILED})
COOLDOWN_DAYS: dict[BlockReason, int] = {
    BlockReason.LOGIN_REQUIRED: 30,
    BlockReason.RATE_LIMITED: 7,
    BlockReason.FORBIDDEN: 14,
    BlockReason.ROBOTS_DENIED: 90,
    BlockReason.ROBOTS_UNREACHABLE: 1,
    BlockReason.SERVER_ERRORS: 7,
    BlockReason.DNS_FAILURE: 7,
    BlockReason.CONNECTION_FAILED: 7,
}
REFRESH_DAYS = 14
AUTOMATIC_RETRIES = 3  # of a blocked domain; then it stays blocked until somebody resets it
