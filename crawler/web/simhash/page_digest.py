"""A digest of a page as a whole that is the same for pages that differ only in what no reader sees.

Attributes, comments, scripts, styles, digits and the amount of white space do not count, so a page is recognised in
spite of session ids, counters and dates. Which elements there are does count, and where its frames come from.
"""

from __future__ import annotations

import re
from hashlib import blake2b

LONGEST_PAGE = 4 * 1024 * 1024  # characters; the rest of a longer page is ignored

# Every pattern takes what is never closed up to the end of the page: that is linear, and what parsers do.
_UNSEEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b[^>]*+(?:>|\Z).*?(?:</\1\b[^>]*+(?:>|\Z)|\Z)", re.IGNORECASE | re.DOTALL
)
# A tag of thousands of attributes is given up half-way: that bounds what the pattern has to remember.
_TAG = re.compile(r"<(/?)([a-z][^\s/>]*+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+'|[\"']){0,5000})>?", re.IGNORECASE)
_SOURCE = re.compile(r"\ssrc\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)", re.IGNORECASE)
_DOCTYPE = re.compile(r"<![^>]*+(?:>|\Z)")
_BLANKS_AND_DIGITS = re.compile(r"[\s0-9]+")
_KNOWN = frozenset(
    "a abbr address area article aside audio b base blockquote body br button canvas caption center cite code "
    "col dd del details dfn dir div dl dt em embed fieldset figcaption figure font footer form frame frameset "
    "h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link main map mark menu "
    "meta nav noscript object ol optgroup option output p param picture pre q s samp section select small "
    "source span strike strong sub summary sup svg table tbody td template textarea tfoot th thead time title "
    "tr track tt u ul var video wbr".split()
)


def html_digest(html: str) -> str:
    """32 hexadecimal digits; equal for pages that read the same."""
    seen = _UNSEEN.sub(" <script> ", html[:LONGEST_PAGE])
    outline = _TAG.sub(_without_attributes, _DOCTYPE.sub("", seen))
    text = _BLANKS_AND_DIGITS.sub(" ", outline).strip()
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _without_attributes(tag: re.Match[str]) -> str:
    slash, name, attributes = tag.groups()
    name = name.lower()
    source = _SOURCE.search(attributes) if name in ("frame", "iframe") else None
    # An unknown element is noise of some framework: that it is there counts, its name does not.
    return f"<{slash}{name if name in _KNOWN else '?'}{source[1] if source else ''}>"
