"""How much is too much. Every number can be set; the defaults refuse nothing on sites made for people."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrapLimits:
    url_characters: int = 2_000
    path_segments: int = 40
    template_urls: int = 50_000  # of one template on one domain
    query_variations: int = 1_000  # of one path, by parameters that take few values each
    calendar_pages: int = 2_000  # of one calendar
    calendar_years_ahead: int = 3
    calendar_years_back: int = 300  # newspapers have archives
    session_pages: int = 50_000  # pages of one domain that are known only with a session id
    hosts_of_site: int = 1_000  # host names of one registrable domain
    remembered_templates: int = 4_096  # of one domain; bounds its memory
    remembered_hosts: int = 200_000  # of one crawl


DEFAULT_LIMITS = TrapLimits()
