"""Pages that need JavaScript, rendered by Chromium in a process of its own.

`Renderer` has the verbs of the Fetcher: `start`, `finished`, `close`. It never raises for what a page does;
it raises `BrowserUnavailable` when it is made and Playwright or Chromium is not installed. Everything the
browser asks of the network is judged by the same guard as every other fetch.

    renderer.py   what the engine sees: tickets in, outcomes out, browsers replaced when worn or dead
    process.py    one browser process seen from outside: its socket, its pages, its end
    messages.py   what the two processes say to each other
    child.py      the browser process: Playwright, one Chromium, a watch over its memory
    lifeline.py   the end of that process and of all it started
    rendering.py  one page from request to outcome; quiet.py: when it is done; answers.py: how it is told
    gateway.py    the only way out for Chromium: a proxy that judges every address; streams.py, names.py: its parts
"""

from crawler.fetch.browser.chromium import BrowserUnavailable
from crawler.fetch.browser.options import PageLimits
from crawler.fetch.browser.renderer import Renderer

__all__ = ["BrowserUnavailable", "PageLimits", "Renderer"]
