"""The installed Chromium: where it is, and how it is started so that nothing of it goes around the gateway."""

from __future__ import annotations

import importlib.util
import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

FLAGS = (
    # UDP knows no proxy.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Names are resolved by the gateway alone.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    # Nobody talks to the vendor. (What still tries has no credential for the gateway.)
    "--no-pings",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--safebrowsing-disable-auto-update",
    "--disable-crash-reporter",
    # Nobody looks, listens or answers.
    "--disable-gpu",
    "--mute-audio",
    "--disable-notifications",
    "--deny-permission-prompts",
    "--disable-print-preview",
)
# Playwright is made for pages one trusts.
UNWANTED_DEFAULTS = ("--disable-popup-blocking", "--disable-ipc-flooding-protection")


class BrowserUnavailable(Exception):
    """Something is not installed; the message says what, and how to install it."""


def needed(chromium_path: str | None) -> str:
    """The path of Chromium, from the parameter, CHROMIUM_PATH or PATH; raises when anything is missing."""
    if importlib.util.find_spec("playwright") is None:
        raise BrowserUnavailable("Rendering needs Playwright: pip install 'crawlspace[browser]'")
    named = chromium_path or os.environ.get("CHROMIUM_PATH")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    missing = f"there is no program {named}" if named else "it is not installed"
    raise BrowserUnavailable(
        f"Rendering needs Chromium and {missing}: apt-get install chromium, or name its path in CHROMIUM_PATH"
    )


def has_sandbox() -> bool:
    """Chromium refuses to sandbox for root."""
    return os.geteuid() != 0
