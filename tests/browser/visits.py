"""A person at our own pages, in real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.faults.platform import Platform

ADMIN = "/admin/secure-admin-2025/"
# Browsers log an error page as an error of their own.
NO_COMPLAINT = "Failed to load resource: the server responded with a status of"


class Visit:
    """A browser's tab that remembers what was wrong."""

    def __init__(self, page: Any, base: str) -> None:
        self.page, self.base = page, base
        self.complaints: list[str] = []
        page.on("console", lambda said: self.note(said.type, said.text))
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("request", lambda request: self.note_request(request.url))

    def note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not text.startswith(NO_COMPLAINT):
            self.complaints.append(f"{kind}: {text}")

    def note_request(self, url: str) -> None:
        if not url.startswith((self.base, "data:", "blob:")):
            self.complaints.append(f"asked elsewhere: {url}")

    def open(self, path: str) -> int:
        answer = self.page.goto(f"{self.base}{path}")
        self.page.wait_for_load_state("networkidle")
        status: int = answer.status
        return status

    def links(self, start: str) -> list[str]:
        found: list[str] = self.page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
        return sorted({link for link in found if link.startswith(start)})

    def log_in(self, form: str, username: str, password: str) -> None:
        self.page.goto(f"{self.base}{form}")
        self.page.fill("input[name=username]", username)
        self.page.fill("input[name=password]", password)
        self.page.click("button:has-text('Log in')")
        self.page.wait_for_load_state("load")

    def is_content(self) -> bool:
        assert self.complaints == [], self.page.url
        return True


@contextmanager
def visiting(platform: Platform, chromium: Any) -> Iterator[Visit]:
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    yield Visit(context.new_page(), f"http://127.0.0.1:{platform.port}")
    context.close()
