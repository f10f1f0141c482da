"""Tokens that are wrong: whoever shows many of them from one address is told to wait.

A right token passes all the same. There is nothing to guess in 256 random bits, so a neighbour's failures need not keep
anybody out; what they must not do is cost more than a look.
"""

from __future__ import annotations

from django.http import HttpRequest

from crawler.accounts import limits
from crawler.accounts.addresses import address_subject
from crawler.foundation.errors import RateLimited


def is_suspect(request: HttpRequest) -> bool:
    """Whether so many wrong tokens came from there that the next is looked at before anything else is done."""
    return limits.TALLY.is_exceeded(address_subject(request), limits.LOGINS)


def count_failure(request: HttpRequest) -> RateLimited | None:
    """The answer once there were too many."""
    usage = limits.TALLY.count(address_subject(request), limits.LOGINS)
    return usage.problem() if usage and usage.exceeded else None
