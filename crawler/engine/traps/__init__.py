"""Traps: sites that make up URLs without end, by accident or on purpose. Bounded here by the form of their URLs.

A caller may rely on this:

- ``shape_refusal`` looks at one URL and remembers nothing: length, number of path segments, repeating segments, dates
  that lie further from now than any real calendar goes.
- ``TrapCounters`` is the memory of one domain in one crawl. Ask it once for every URL that is new and would otherwise
  be admitted; what it admits, it counts. Its answers depend on nothing but the URLs before. Memory is bounded, and it
  errs to the generous side: what is forgotten to save memory is counted too low, never too high.
- ``HostNames`` bounds the host names of one registrable domain (wildcard DNS).
- ``as_dict`` is ready for JSON, and ``from_dict`` goes on where it was.

The limits are for machines that do not stop; a large catalogue is not one. Hence a generous number of URLs for each
*template* (a path with its numbers, dates and ids taken out, and the names of its parameters), and small numbers only
where a URL shows what it is:

- *Session ids*: of the URLs that differ only in their session id the first is admitted. A site that puts a new id into
  every link is crawled completely, and once.
- *Facets*: parameters that each take few values, but together make thousands of URLs of one path. A path with a
  parameter that takes many values (``?id=``, ``?topic=``) is a script that serves many pages, and is no facet.
- *Calendars*: pages below a word like ``calendar`` or ``events`` that are addressed by nothing but a date.

What words do not show is not found here: random words as segments end with the depth and the budget of the crawl.
"""

from crawler.engine.traps.counters import TrapCounters
from crawler.engine.traps.hosts import HostNames
from crawler.engine.traps.limits import TrapLimits
from crawler.engine.traps.shape import shape_refusal

__all__ = ["HostNames", "TrapCounters", "TrapLimits", "shape_refusal"]
