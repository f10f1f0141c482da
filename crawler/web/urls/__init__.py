"""URLs: what an href on a page means, and which URLs are the same one.

A caller may rely on this:

- ``parse`` reads any URL exactly as the WHATWG URL standard does, fragment and all.
- ``resolve`` gives the URL as it is fetched: the standard's serialisation without the fragment. ``Resolver`` is the
  same for many hrefs of one page. Only http and https come out; every other scheme is InvalidURL.
- ``normalize`` gives the URL's identity (see ``normal.py`` for the rules) and ``url_hash`` its SHA-256. Normalising
  is idempotent, and the result is ASCII that parses to itself.
- What cannot be parsed raises InvalidURL, a ValueError, and nothing else is raised for any text.
- Time is linear in the text (sorting the query aside), as ``resolve`` and ``normalize`` refuse URLs of more than
  MAX_URL_LENGTH characters and authorities of more than 1,024; what is remembered between calls is bounded.
"""

from crawler.web.urls.normal import DEFAULT_TRACKING, normalize, url_hash
from crawler.web.urls.parsing import MAX_URL_LENGTH, InvalidURL, URLParts, parse
from crawler.web.urls.resolving import Resolver, resolve

__all__ = [
    "DEFAULT_TRACKING",
    "MAX_URL_LENGTH",
    "InvalidURL",
    "Resolver",
    "URLParts",
    "normalize",
    "parse",
    "resolve",
    "url_hash",
]
