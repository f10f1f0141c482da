"""What browsers are told about every answer: where its parts may come from, and that it is nobody else's.

Three policies: pages, the API's description included, which need nothing inline; the admin pages, whose theme
evaluates expressions in attributes (Alpine) and writes its colours into the page; and everything else, which is not
a page. adr/0017 says what each needs and why.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], HttpResponse]
POLICY = "Content-Security-Policy"

NOTHING = {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'"}
PAGE = NOTHING | {
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "form-action": "'self'",
    "object-src": "'none'",
}
# frame-src: a result's page is shown in a frame without rights, by a view that brings its own policy.
ADMIN = PAGE | {
    "script-src": "'self' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "frame-src": "'self'",
}

UNUSED_FEATURES = (
    "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen", "geolocation",
    "gyroscope", "magnetometer", "microphone", "midi", "payment", "picture-in-picture", "publickey-credentials-get",
    "screen-wake-lock", "usb", "xr-spatial-tracking",
)  # fmt: skip
NO_FEATURES = ", ".join(f"{feature}=()" for feature in UNUSED_FEATURES)
YEAR_SECONDS = 365 * 24 * 3600


def as_header(policy: dict[str, str]) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in policy.items())


HEADERS = {"nothing": as_header(NOTHING), "page": as_header(PAGE), "admin": as_header(ADMIN)}


class SecurityHeaders:
    """Adds what a view did not set itself."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        kind, headers = kind_of(request.path, response.get("Content-Type", "")), response.headers
        headers.setdefault(POLICY, HEADERS[kind])
        headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if kind != "nothing":
            headers.setdefault("Permissions-Policy", NO_FEATURES)
        if not request.path.startswith(settings.STATIC_URL):
            headers.setdefault("Cache-Control", "no-store")
        if settings.BEHIND_TLS:
            headers.setdefault("Strict-Transport-Security", f"max-age={YEAR_SECONDS}")
        return response


def kind_of(path: str, content_type: str) -> str:
    if not content_type.startswith("text/html"):
        return "nothing"
    return "admin" if path.startswith(settings.CRAWLSPACE.admin_path) else "page"
