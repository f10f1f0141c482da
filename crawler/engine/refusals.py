"""Why a URL is not fetched: a value with a reason and a detail, and what each reason means.

``MEANINGS`` has a row for every reason: how long it holds and one sentence for people (`crawler explain`). How long:

    URL     for this URL as long as the rules of the crawl stay as they are: no need to ask again
    LINK    for this link: found again by a better one (less deep, without nofollow), the URL is judged anew
    MOMENT  for now: the URL stays in the frontier, or is judged anew when it is found again
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Holds(StrEnum):
    URL = "url"
    LINK = "link"
    MOMENT = "moment"


class Reason(StrEnum):
    INVALID_URL = "invalid_url"
    SCHEME = "scheme"
    URL_TOO_LONG = "url_too_long"
    DOMAIN = "domain"
    REGISTRABLE_DOMAIN = "registrable_domain"
    INCLUDE = "include"
    EXCLUDE = "exclude"
    DEPTH = "depth"
    NOFOLLOW = "nofollow"
    META_ROBOTS = "meta_robots"
    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    BUDGET = "budget"
    PATH_DEPTH = "path_depth"
    REPEATING_PATH = "repeating_path"
    PATH_TEMPLATE = "path_template"
    QUERY_VARIATIONS = "query_variations"
    CALENDAR = "calendar"
    SESSION_ID = "session_id"
    CONTENT_TYPE = "content_type"
    GUARD = "guard"
    REDIRECT_LIMIT = "redirect_limit"
    REDIRECT_LOOP = "redirect_loop"

    @property
    def is_final(self) -> bool:
        """True when the same crawl need not judge the URL again."""
        return MEANINGS[self].holds is Holds.URL

    @property
    def explanation(self) -> str:
        return MEANINGS[self].explanation


class Meaning(NamedTuple):
    holds: Holds
    explanation: str


class Refusal(NamedTuple):
    """``detail`` names the one rule, limit or part of the URL that decided; it may be empty."""

    reason: Reason
    detail: str

    @property
    def is_final(self) -> bool:
        return self.reason.is_final

    def __str__(self) -> str:
        return f"{self.reason.explanation} ({self.detail})" if self.detail else self.reason.explanation


MEANINGS: Final[dict[Reason, Meaning]] = {
    Reason.INVALID_URL: Meaning(Holds.URL, "It is not a URL that can be fetched."),
    Reason.SCHEME: Meaning(Holds.URL, "Its scheme is not one that this crawl fetches."),
    Reason.URL_TOO_LONG: Meaning(Holds.URL, "It is longer than URLs of real pages are."),
    Reason.DOMAIN: Meaning(Holds.URL, "Its domain is not among the crawl's domains."),
    Reason.REGISTRABLE_DOMAIN: Meaning(Holds.URL, "Its site shows more host names than are followed."),
    Reason.INCLUDE: Meaning(Holds.URL, "It matches none of the crawl's URL patterns."),
    Reason.EXCLUDE: Meaning(Holds.URL, "It matches a pattern that the crawl excludes."),
    Reason.DEPTH: Meaning(Holds.LINK, "It is more clicks away from a seed than the crawl goes."),
    Reason.NOFOLLOW: Meaning(Holds.LINK, "Only links marked nofollow lead to it so far."),
    Reason.META_ROBOTS: Meaning(Holds.LINK, "The page it was found on asks robots not to follow its links."),
    Reason.ROBOTS: Meaning(Holds.URL, "The site's robots.txt disallows it."),
    Reason.ROBOTS_UNREACHABLE: Meaning(Holds.MOMENT, "The site's robots.txt could not be read, so we stay away."),
    Reason.BUDGET: Meaning(Holds.MOMENT, "The crawl has fetched as many pages as it may."),
    Reason.PATH_DEPTH: Meaning(Holds.URL, "Its path has more segments than paths of real pages have."),
    Reason.REPEATING_PATH: Meaning(Holds.URL, "Its path repeats itself, as paths of endless link loops do."),
    Reason.PATH_TEMPLATE: Meaning(Holds.URL, "Too many URLs of the same form were found on its domain."),
    Reason.QUERY_VARIATIONS: Meaning(Holds.URL, "Too many combinations of parameters were found for its path."),
    Reason.CALENDAR: Meaning(Holds.URL, "It is a calendar page of an endless calendar."),
    Reason.SESSION_ID: Meaning(Holds.URL, "It is a known page with another session id."),
    Reason.CONTENT_TYPE: Meaning(Holds.URL, "Its content type is not one that this crawl stores."),
    Reason.GUARD: Meaning(Holds.URL, "Its address is not on the public internet."),
    Reason.REDIRECT_LIMIT: Meaning(Holds.URL, "It redirects more often than is followed."),
    Reason.REDIRECT_LOOP: Meaning(Holds.URL, "It redirects back to a URL it came from."),
}
