"""libcurl's error codes as kinds of failure."""

from __future__ import annotations

import pycurl

from crawler.fetch.outcome import Failure, FailureKind

PROXY_ERROR = 97  # pycurl has no name for these two
HTTP2_STREAM_ERROR = 92

# The connection ended or made no sense in the middle of an answer.
BROKE_OFF = frozenset({pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, pycurl.E_HTTP2, HTTP2_STREAM_ERROR})
KIND_BY_CODE = {
    pycurl.E_URL_MALFORMAT: FailureKind.URL,
    pycurl.E_COULDNT_RESOLVE_HOST: FailureKind.DNS,
    pycurl.E_COULDNT_RESOLVE_PROXY: FailureKind.PROXY,
    PROXY_ERROR: FailureKind.PROXY,
    pycurl.E_COULDNT_CONNECT: FailureKind.CONNECT,
    pycurl.E_SEND_ERROR: FailureKind.CONNECT,
    pycurl.E_RECV_ERROR: FailureKind.CONNECT,
    pycurl.E_GOT_NOTHING: FailureKind.CONNECT,
    pycurl.E_OPERATION_TIMEDOUT: FailureKind.TIMEOUT,
    pycurl.E_PARTIAL_FILE: FailureKind.INCOMPLETE,
    pycurl.E_SSL_CONNECT_ERROR: FailureKind.TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: FailureKind.TLS,
    pycurl.E_SSL_CIPHER: FailureKind.TLS,
    pycurl.E_SSL_CERTPROBLEM: FailureKind.TLS,
    pycurl.E_SSL_CACERT_BADFILE: FailureKind.TLS,
    pycurl.E_SSL_INVALIDCERTSTATUS: FailureKind.TLS,
    pycurl.E_SSL_ISSUER_ERROR: FailureKind.TLS,
}
TEMPORARY = frozenset({FailureKind.CONNECT, FailureKind.TIMEOUT, FailureKind.INCOMPLETE, FailureKind.PROXY})


def failure_of(code: int, message: str, *, headers_came: bool, proxy_failed: bool, seconds: float) -> Failure:
    kind = KIND_BY_CODE.get(code, FailureKind.PROTOCOL)
    if proxy_failed:
        kind = FailureKind.PROXY
    elif headers_came and code in BROKE_OFF:
        kind = FailureKind.INCOMPLETE
    return Failure(kind, message or f"libcurl error {code}", temporary=kind in TEMPORARY, seconds=seconds)
