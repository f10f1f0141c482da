"""Leaves a module of tests out where the browser extra is not installed, and says what to install."""

import pytest

from crawler.fetch.browser import BrowserUnavailable
from crawler.fetch.browser.chromium import needed


def require() -> None:
    try:
        needed(None)
    except BrowserUnavailable as reason:
        pytest.skip(str(reason), allow_module_level=True)
