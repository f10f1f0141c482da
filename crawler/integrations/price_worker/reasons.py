"""Why a page could not be had, in words for who looks at the job."""

from __future__ import annotations

from crawler.fetch.outcome import Failure, FailureKind, Response
from crawler.integrations.price_worker.manners import Manners

_WORDS = {
    FailureKind.URL: "cannot be fetched",
    FailureKind.GUARD: "may not be fetched",
    FailureKind.DNS: "the host's name has no address",
    FailureKind.CONNECT: "no connection",
    FailureKind.TLS: "no secure connection",
    FailureKind.PROTOCOL: "what came is not HTTP",
    FailureKind.INCOMPLETE: "the answer broke off",
    FailureKind.HEADERS: "too many headers",
    FailureKind.PROXY: "the proxy failed",
}


class Unfetched(Exception):
    """There is no page; the text says why."""


class Stopped(Exception):
    """It was not tried: the worker is about to end."""


def of_failure(failure: Failure, manners: Manners, about: str = "") -> Unfetched:
    if failure.kind is FailureKind.TIMEOUT:
        return Unfetched(f"{about}timeout after {min(failure.seconds, manners.timeout_seconds):.3g} s")
    hint = "; see FETCH_ALLOWED_NETWORKS" if failure.kind is FailureKind.GUARD else ""
    return Unfetched(f"{about}{_WORDS[failure.kind]}: {failure.message}{hint}")


def of_status(answer: Response) -> Unfetched:
    wanted = answer.headers.get("retry-after")
    return Unfetched(f"HTTP {answer.status}" + (f", Retry-After: {wanted[:60]}" if wanted else ""))
