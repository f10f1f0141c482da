"""From the bytes of a robots.txt to groups of rules. Never raises; time and memory grow with the file, not faster.

Read as RFC 9309 says, with the leniency that real files need: any of the three line ends, a UTF-8 or UTF-16 byte order
mark, missing colons, common misspellings, HTML markup around the lines. Unknown directives do not end a list of user
agents. A crawl-delay, request-rate or visit-time belongs to the agents named just before it, and does not keep later
agents from sharing the rules that follow (what Google, crawler-commons and robotspy do).
"""

import re
from typing import Final, NamedTuple

MAX_BYTES: Final = 500 * 1024  # RFC 9309 §2.5: a parser reads at least this much; we stop there

USER_AGENT, ALLOW, DISALLOW = "user-agent", "allow", "disallow"
CRAWL_DELAY, REQUEST_RATE, VISIT_TIME = "crawl-delay", "request-rate", "visit-time"
SITEMAP, HOST = "sitemap", "host"

_SPELLINGS = {
    USER_AGENT: "useragent useragents usersagent usergent useragnet useagent ueseragent useeragent usegagent seragent",
    DISALLOW: "disallow disalow dissallow dissalow disallows diasllow disallaw desallow desalow disalllow dsallow",
    ALLOW: "allow alow allows alllow aloow",
    CRAWL_DELAY: "crawldelay crawldelays crawlerdelay",
    REQUEST_RATE: "requestrate",
    VISIT_TIME: "visittime",
    SITEMAP: "sitemap sitemaps sitemapurl sitemapindex",
    HOST: "host",
}
_DIRECTIVES = {word: name for name, words in _SPELLINGS.items() for word in words.split()}
# What nearly every line begins with, looked up before any cleaning.
_EXACT = {spelling: name for name in _SPELLINGS for spelling in (name, name.capitalize(), name.title(), name.upper())}
_FILLING = str.maketrans("", "", "-_ \t\ufeff")

_markup = re.compile(r"<[^<>]*>")
_seconds = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}").fullmatch
_rate = re.compile(
    r"([0-9]{1,9})\s*+/\s*+([0-9]{1,9})(?:\s*+([smhd])[a-z]*+)?(?:\s++([0-9]{4})\s*+-\s*+([0-9]{4}))?", re.IGNORECASE
).fullmatch
_hours = re.compile(r"([0-9]{4})\s*-\s*([0-9]{4})").fullmatch
_compatible_product = re.compile(r"\s*Mozilla/\S+\s+\(compatible;\s*([^\s/;()]+)", re.IGNORECASE).match
_SECONDS_BY_UNIT = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Rule(NamedTuple):
    """One allow or disallow line: the value as written and where it stands."""

    allow: bool
    value: str
    line: int

    def text(self) -> str:
        """The rule as a person would write it."""
        return f"{'Allow' if self.allow else 'Disallow'}: {self.value}"


class RequestRate(NamedTuple):
    """At most ``requests`` in ``seconds``, within a time of day ("0600" to "0845", UTC) when one is given."""

    requests: int
    seconds: int
    start: str | None
    end: str | None


class VisitTime(NamedTuple):
    """The time of day ("0600" to "0845", UTC) in which visits are welcome."""

    start: str
    end: str


class Settings:
    """What a run of user-agent lines asks for beside its rules; shared by every agent of the run."""

    __slots__ = ("crawl_delay", "request_rate", "visit_time")

    def __init__(self) -> None:
        self.crawl_delay: float | None = None
        self.request_rate: RequestRate | None = None
        self.visit_time: VisitTime | None = None


class Group:
    """All that a file says to one user agent, from however many places. Lists are shared between agents, not copied."""

    __slots__ = ("name", "rule_lists", "settings")

    def __init__(self, name: str) -> None:
        self.name = name
        self.rule_lists: list[list[Rule]] = []
        self.settings: list[Settings] = []

    def rules(self) -> list[Rule]:
        """Every rule of the group in the order of the file."""
        return [rule for rules in self.rule_lists for rule in rules]


class Reading:
    """What was read: groups by product token in lower case, sitemaps without repetition, the preferred host."""

    __slots__ = ("_agents_open", "_rules", "_settings", "_settings_open", "groups_by_token", "host", "sitemaps")

    def __init__(self, text: str) -> None:
        self.groups_by_token: dict[str, Group] = {}
        self.sitemaps: dict[str, None] = {}
        self.host: str | None = None
        self._rules: list[Rule] = []  # What stands before the first user agent belongs to nobody.
        self._settings = Settings()
        self._agents_open = self._settings_open = False
        for number, line in enumerate(text.split("\n"), 1):
            if line:
                self._take_line(line, number)

    def _take_line(self, line: str, number: int) -> None:
        key, _, value = line.partition(":")
        directive = _EXACT.get(key)
        if directive is None:
            directive, value = _lenient_directive(line)
            if directive is None:
                return
        value = value.partition("#")[0].strip()
        if directive is DISALLOW or directive is ALLOW:
            self._agents_open = self._settings_open = False
            if value:
                self._rules.append(Rule(directive is ALLOW, value, number))
        elif directive is USER_AGENT:
            self._add_agent(value)
        elif directive is SITEMAP:
            if value:
                self.sitemaps[value] = None
        elif directive is HOST:
            self.host = self.host or value or None
        else:
            self._take_setting(directive, value)

    def _add_agent(self, value: str) -> None:
        if not self._agents_open:
            self._rules = []
        if not self._settings_open:
            self._settings = Settings()
        self._agents_open = self._settings_open = True
        self._join(_first_word(value))
        if "(" in value:  # A whole User-Agent header: meant for those who send just that.
            self._join(value)

    def _join(self, name: str) -> None:
        if not name:  # The line begins a group all the same: one of nobody.
            return
        group = self.groups_by_token.get(name.lower())
        if group is None:
            group = self.groups_by_token[name.lower()] = Group(name)
        if not group.rule_lists or group.rule_lists[-1] is not self._rules:
            group.rule_lists.append(self._rules)
        if not group.settings or group.settings[-1] is not self._settings:
            group.settings.append(self._settings)

    def _take_setting(self, directive: str, value: str) -> None:
        self._settings_open = False
        if not self.groups_by_token:  # A delay asked of nobody in particular costs little to honour.
            self.groups_by_token["*"] = Group("*")
            self.groups_by_token["*"].settings.append(self._settings)
        if directive is CRAWL_DELAY:
            self._settings.crawl_delay = longest_delay(self._settings.crawl_delay, _read_seconds(value))
        elif directive is REQUEST_RATE:
            self._settings.request_rate = self._settings.request_rate or _read_rate(value)
        elif found := _hours(value):
            self._settings.visit_time = self._settings.visit_time or VisitTime(found[1], found[2])


def read(body: bytes | str) -> Reading:
    """Reads MAX_BYTES at most (of a str: of its UTF-8), and never half a line, which could close a whole site."""
    octets = body if isinstance(body, bytes) else body[:MAX_BYTES].encode("utf-8", "surrogatepass")
    text = _decode(octets[:MAX_BYTES]).replace("\r\n", "\n").replace("\r", "\n")
    if len(body) > MAX_BYTES or len(octets) > MAX_BYTES:
        text = text[: text.rfind("\n") + 1]
    if text.lstrip()[:1] == "<":
        text = _markup.sub("", text)
    return Reading(text)


def _decode(octets: bytes) -> str:
    if octets.startswith((b"\xff\xfe", b"\xfe\xff")):
        return octets.decode("utf-16", "replace")
    for mark in (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"):  # A mark cut short is still no part of the first line.
        if octets.startswith(mark):
            octets = octets[len(mark) :]
            break
    # Lone octets survive as surrogates: a Latin-1 path still matches its percent-encoded URL.
    return octets.decode("utf-8", "surrogateescape")


def product_token(name: str) -> str:
    """The token that decides which group applies to a robot: the first word before any version, in lower case.

    Of ``Mozilla/5.0 (compatible; SomeBot/1.0; …)`` it is the product that calls itself compatible.
    """
    compatible = _compatible_product(name)
    return (compatible[1] if compatible else _first_word(name)).lower()


def _first_word(text: str) -> str:
    words = text.split(maxsplit=1)
    return words[0].partition("/")[0] if words else ""


def _lenient_directive(line: str) -> tuple[str | None, str]:
    content = line.partition("#")[0]
    key, colon, value = content.partition(":")
    if colon and (directive := _known(key)):
        return directive, value
    for words_in_key in (1, 2):
        *words, value = [*content.split(maxsplit=words_in_key), ""][: words_in_key + 1]
        if (directive := _known("".join(words))) and _plausible(directive, value.strip()):
            return directive, value
    return None, ""


def _plausible(directive: str, value: str) -> bool:
    """Whether a line without a colon is a directive, and not a sentence that begins with the same word."""
    if directive is ALLOW or directive is DISALLOW:
        return value.startswith(("/", "*"))
    return bool(value) and (directive is USER_AGENT or directive is REQUEST_RATE or " " not in value)


def _known(key: str) -> str | None:
    # The longest known spelling has 13 characters; a long key is not worth cleaning.
    return _DIRECTIVES.get(key.strip().lower().translate(_FILLING)) if len(key) < 200 else None


def _read_seconds(value: str) -> float | None:
    return float(value) if _seconds(value) else None


def _read_rate(value: str) -> RequestRate | None:
    found = _rate(value)
    if found is None:
        return None
    seconds = int(found[2]) * _SECONDS_BY_UNIT[(found[3] or "s").lower()]
    return RequestRate(int(found[1]), seconds, found[4], found[5]) if seconds else None


def longest_delay(*delays: float | None) -> float | None:
    """The most patient of several crawl-delays, where the file contradicts itself."""
    return max((delay for delay in delays if delay is not None), default=None)
