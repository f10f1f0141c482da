"""``X-Robots-Tag``: what a server tells robots about any kind of file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawler.web.directives import HEADER_WORDS, LONGEST_CONTENT, UNRESTRICTED, RobotsDirectives, is_directive, parse

MOST_LINES = 100

_AGENT = re.compile(r"\s*([A-Za-z0-9_.*-]+)\s*:")


def x_robots_tag(values: str | Iterable[str], user_agent: str = "") -> RobotsDirectives:
    """The directives that the lines of this header address to everyone or to ``user_agent``.

    ``googlebot: noindex`` addresses one robot, by its product token, until the end of the line or the next name.
    """
    lines = [values] if isinstance(values, str) else list(values)[:MOST_LINES]
    product = re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0].lower()
    found = UNRESTRICTED
    for line in lines:
        found |= parse(_addressed_to(product, line[:LONGEST_CONTENT]), HEADER_WORDS)
    return found


def _addressed_to(product: str, line: str) -> str:
    """What is left of a line without the parts that are meant for other robots."""
    kept, is_ours = [], True
    for part in line.split(","):
        agent = _AGENT.match(part)
        if agent and not is_directive(name := agent[1].lower()) and not name.isdigit():
            is_ours = name in ("*", product)
            part = part[agent.end() :]
        if is_ours:
            kept.append(part)
    return ",".join(kept)
