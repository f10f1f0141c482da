"""Fuzz robots.txt: ``python tests/fuzz/fuzz_robots.py -max_total_time=60`` (needs atheris).

Input is a user agent, a URL and a file with a byte 0xFE between them.
"""

import json
import re
import sys
from importlib import import_module

from crawler.web.robots import Robots, canonical_path, governs, path_of_url, product_token
from crawler.web.robots.paths import canonical_path_of_url
from crawler.web.robots.reading import Rule


def one(data: bytes) -> None:
    """The verdict of all rules at once is the one that trying each of them gives, and nothing raises."""
    agent_octets, _, rest = data.partition(b"\xfe")
    url_octets, _, body = rest.partition(b"\xfe")
    agent, url = (octets.decode("utf-8", "surrogateescape") for octets in (agent_octets, url_octets))
    robots = Robots.parse(body)
    verdict = robots.verdict(agent, url)
    path = canonical_path_of_url(url)
    assert path == canonical_path(path_of_url(url)), "the short way and the long way"
    assert path.startswith("/") and path.isascii()
    if path != "/robots.txt" and b"index.htm" not in body and b"?" not in body:
        assert verdict.allowed == _tried_one_by_one(robots, agent, path)
    assert verdict == robots.verdict([agent], url)
    delay = robots.crawl_delay(agent)
    assert delay is None or 0 <= delay < 1e9
    assert len(json.dumps(robots.as_dict())) < 20 * len(body) + 1_000
    product_token(agent)
    governs(agent, url)


def _tried_one_by_one(robots: Robots, agent: str, path: str) -> bool:
    rules = [rule for group in robots._groups(agent) for rule in group.rules()]
    matching = [(_octets(rule), rule.allow) for rule in rules if _matches(rule, path)]
    return max(matching, default=(0, True))[1]


def _octets(rule: Rule) -> int:
    anchored = rule.value.endswith("$")
    body = rule.value[:-1] if anchored else rule.value
    return len("*".join(map(canonical_path, body.split("*")))) + anchored


def _matches(rule: Rule, path: str) -> bool:
    anchored = rule.value.endswith("$")
    literals = (rule.value[:-1] if anchored else rule.value).split("*")
    if len(literals) > 6:  # The regular expression would take forever; that is what we do not use one for.
        literals = [literal for literal in literals if literal] or [""]
    pattern = ".*".join(re.escape(canonical_path(literal)) for literal in literals)
    return re.match(pattern + (r"\Z" if anchored else ""), path, re.DOTALL) is not None


if __name__ == "__main__":
    atheris = import_module("atheris")  # has no types and is no dependency
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
