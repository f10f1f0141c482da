"""The memory of one domain: how many URLs of each form it has shown so far."""

from __future__ import annotations

from typing import Any, Final

from crawler.engine.refusals import Reason, Refusal
from crawler.engine.traps.calendars import is_calendar_page
from crawler.engine.traps.counting import BoundedCounts, ValueSketch
from crawler.engine.traps.limits import DEFAULT_LIMITS, TrapLimits
from crawler.engine.traps.shape import split
from crawler.engine.traps.templates import digest, key_of, template_of, without_session

_FEWEST_FACETS: Final = 2
# Page numbers take many values and identify nothing; nor is a list of pages a combination.
_PAGING: Final = frozenset(
    ("offset", "p", "page", "paged", "pagenum", "pageno", "pagenumber", "pg", "seite", "skip", "start")
)


class TrapCounters:
    __slots__ = ("_calendars", "_facets", "_limits", "_sessions", "_sketches", "_templates")

    def __init__(self, limits: TrapLimits = DEFAULT_LIMITS) -> None:
        room = limits.remembered_templates
        self._limits = limits
        self._templates = BoundedCounts(limits.template_urls, room)
        self._calendars = BoundedCounts(limits.calendar_pages, room)
        self._facets = BoundedCounts(limits.query_variations, room)
        self._sketches: dict[str, ValueSketch] = {}  # of the paths in _facets
        self._sessions: set[str] = set()

    def refusal(self, url: str) -> Refusal | None:
        """Judges a URL that was not seen before, and counts it unless it is refused."""
        path, query = split(url)
        clean = without_session(path, query)
        if clean is not None:
            path, query = clean
            if refusal := self._session_refusal(path, query):
                return refusal
        template = template_of(path, query)
        if template is None:
            return None
        return self._count(path, query, key_of(template))

    def as_dict(self) -> dict[str, Any]:
        return {
            "templates": self._templates.counts.copy(),
            "calendars": self._calendars.counts.copy(),
            "facets": self._facets.counts.copy(),
            "values": {
                path: {name: f"{bits:x}" for name, bits in sketch.bits_by_name.items()}
                for path, sketch in self._sketches.items()
            },
            "sessions": sorted(self._sessions),
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any], limits: TrapLimits = DEFAULT_LIMITS) -> TrapCounters:
        """What ``as_dict`` gave; what is missing in it counts as nothing seen."""
        counters = cls(limits)
        counters._templates.counts = dict(saved.get("templates", {}))
        counters._calendars.counts = dict(saved.get("calendars", {}))
        counters._facets.counts = dict(saved.get("facets", {}))
        for path, bits_by_name in saved.get("values", {}).items():
            counters._sketches[path] = ValueSketch({name: int(bits, 16) for name, bits in bits_by_name.items()})
        counters._sessions = set(saved.get("sessions", ()))
        return counters

    def _session_refusal(self, path: str, query: str) -> Refusal | None:
        page = digest(f"{path}?{query}")
        if page in self._sessions:
            return Refusal(Reason.SESSION_ID, f"{path}?{query}" if query else path)
        if len(self._sessions) >= self._limits.session_pages:
            return Refusal(Reason.SESSION_ID, f"more than {self._limits.session_pages} pages with session ids")
        self._sessions.add(page)
        return None

    def _count(self, path: str, query: str, template: str) -> Refusal | None:
        is_calendar = is_calendar_page(path, query)
        if is_calendar and self._calendars.is_full(template):
            return Refusal(Reason.CALENDAR, f"{self._limits.calendar_pages} pages of the form {template}")
        if self._templates.is_full(template):
            return Refusal(Reason.PATH_TEMPLATE, f"{self._limits.template_urls} of the form {template}")
        if "&" in query and self._is_facet(path, query):
            return Refusal(Reason.QUERY_VARIATIONS, f"{self._limits.query_variations} queries of {path}")
        if is_calendar:
            self._calendars.add(template)
        self._templates.add(template)
        return None

    def _is_facet(self, path: str, query: str) -> bool:
        parameters = _without_paging(query)
        if len(parameters) < _FEWEST_FACETS:
            return False
        key = key_of(path)
        if 2 * self._facets.counts.get(key, 0) >= self._facets.limit:  # the first half need not be looked at
            sketch = self._sketches.get(key) or self._new_sketch(key)
            sketch.note(parameters)
            if self._facets.is_full(key):
                return not sketch.has_many_values()
        self._facets.add(key)
        return False

    def _new_sketch(self, path: str) -> ValueSketch:
        if len(self._sketches) >= self._limits.remembered_templates:
            self._sketches.clear()  # Thousands of paths, each with a thousand queries: that is no site to be exact on.
        sketch = self._sketches[path] = ValueSketch()
        return sketch


def _without_paging(query: str) -> list[tuple[str, str]]:
    parted = [parameter.partition("=") for parameter in query.split("&")]
    return [(name, value) for name, _, value in parted if name.lower() not in _PAGING]
