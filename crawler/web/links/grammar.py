"""The scanner's regular expressions: HTML after the standard's tokenizer, and what the scanner may run over.

Only ``scanning`` may import this, and that only where ``CAN_SCAN``: every loop is a possessive group, so nothing is
tried twice and time is linear in the page, but Python before 3.11.5 matches such groups wrongly. An architecture test
keeps them out of all other modules.

Element names are written by ``_any_case``, as ``re.IGNORECASE`` would slow down everything around them. The order and
form of alternatives follows measurements: a branch costs as much as reading a short tag.
"""

import re
from functools import cache
from typing import Final

from crawler.web.links.tokenizing import ATTRIBUTE, TIDY_ATTRIBUTE, S

_ATTRIBUTES: Final = rf"(?:{ATTRIBUTE})*+[{S}/]*+"
# A class alone is the most frequent case.
_TAG_REST: Final = rf'(?:>| class="[^"]*+">|(?:{TIDY_ATTRIBUTE})++>|[{S}/]{_ATTRIBUTES}>)'

_COMMENT: Final = r"!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+--!?>)"
# What the standard calls bogus comments, and the empty end tag, which is nothing at all.
_DECLARATION: Final = r"!(?!--)[^>]*+>|\?[^>]*+>|/(?![a-zA-Z])[^>]*+>"


def _any_case(name: str) -> str:
    return "".join(f"[{letter}{letter.upper()}]" for letter in name)


def _start(name: str) -> str:
    return rf"{_any_case(name)}(?=[{S}/>]){_ATTRIBUTES}>"


def _raw_text(name: str) -> str:
    """A whole element whose content is text to the tokenizer, tags and all."""
    end = rf"/{_any_case(name)}"
    return rf"{_start(name)}[^<]*+(?:<(?!{end}[{S}/>])[^<]*+)*+<{end}{_ATTRIBUTES}>"


# Inside a comment inside a script, "<script" would begin a nested one: such a script is left unmatched.
_SCRIPT_NAME: Final = rf"{_any_case('script')}[{S}/>]"
_SCRIPT: Final = (
    rf"{_start('script')}[^<]*+(?:<(?!/{_SCRIPT_NAME}|!--)[^<]*+)*+"
    rf"(?:<!--[^<]*+(?:<(?!/?{_SCRIPT_NAME})[^<]*+)*+)?+</{_any_case('script')}{_ATTRIBUTES}>"
)
_STYLE: Final = _raw_text("style")

# A <select> with nothing but options, and an <svg> with nothing but drawing, cannot disturb the tree around them.
_SELECT: Final = (
    rf"{_start('select')}[^<]*+(?:<(?:/?(?i:option|optgroup)(?=[{S}/>]){_ATTRIBUTES}>|{_COMMENT})[^<]*+)*+"
    rf"</{_any_case('select')}[{S}]*+>"
)
_DRAWING: Final = (
    "(?i:animate|animatemotion|animatetransform|circle|clippath|defs|desc|ellipse|fe[a-z]++|filter|g|image|line"
    "|lineargradient|marker|mask|metadata|path|pattern|polygon|polyline|radialgradient|rect|set|stop|style|switch"
    "|symbol|text|textpath|title|tspan|use|view)"
)
_SVG: Final = (
    rf"{_any_case('svg')}(?=[{S}/>]){_ATTRIBUTES}(?<!/)>[^<]*+"
    rf"(?:<(?:/?{_DRAWING}(?=[{S}/>]){_ATTRIBUTES}>|{_COMMENT})[^<]*+)*+</{_any_case('svg')}[{S}]*+>"
)

# Between rows and cells the tree builder moves everything that is not a part of the table to before the table. So the
# parts must follow each other.
_TABLE_PART: Final = rf"/?+(?:t(?:[dhr]|able|body|foot|head)|caption|col(?:group)?+)(?=[{S}/>])"
_PART_FOLLOWS: Final = rf"(?=[{S}]*+(?:<{_COMMENT}[{S}]*+)*+(?:<{_TABLE_PART}|\Z))"
_TABLE_SKELETON: Final = (
    rf"/(?:t(?:[dhr]|body|foot|head)|caption|colgroup)[{S}]*+>{_PART_FOLLOWS}"
    rf"|t(?:r|able|body|foot|head)(?=[{S}/>]){_ATTRIBUTES}>{_PART_FOLLOWS}"
    rf"|col(?:group)?+(?=[{S}/>]){_ATTRIBUTES}>{_PART_FOLLOWS}"
)

# Tags that the fast loop must not run over: those we collect and those that change how what follows is read.
_NOTABLE: Final = (
    rf"a(?:[{S}/>]|rea|udio)|s(?:cript|elect|ource|tyle|vg)|t(?:r[{S}/>]|able|body|emp|ext|foot|head|itle)"
    rf"|/(?:[^a-z]|t(?:[dhr][{S}/>]|body|foot|head)|c(?:aption|olgroup))|link|m(?:ath|eta)|i(?:frame|mage|mg)|base"
    rf"|co(?:l[{S}/>]|lgroup)|frame|no(?:embed|frames)|plaintext|video|xmp"
)
# Where a paragraph begins and ends, and what hides an open one from what is inside.
_PARAGRAPH: Final = rf"/?p[{S}/>]|applet|button|caption|marquee|object|t[dh][{S}/>]"

# A <meta> that says nothing about links, images or robots, and an <a> that is no link.
_IDLE_NAME: Final = rf'(?:name|property|itemprop)="(?!(?i:[{S}]|robots|crawlspace|og:image|twitter:image))[^"&]*+"'
_IDLE_META: Final = rf'meta[{S}](?:{_IDLE_NAME}[{S}]content="[^"]*+"|content="[^"]*+"[{S}]{_IDLE_NAME})[{S}/]*+>'
_IDLE_ANCHOR: Final = rf"a(?:(?![{S}]href=){TIDY_ATTRIBUTE})++>"
_PASSED_OVER: Final = (
    rf"{_IDLE_META}|{_IDLE_ANCHOR}|{_COMMENT}|{_DECLARATION}|{_SCRIPT}|{_SVG}|{_SELECT}|{_TABLE_SKELETON}"
    rf"|/(?!{_TABLE_PART}|[pP][{S}/>])[a-zA-Z][^{S}/>]*+{_ATTRIBUTES}>"
    rf"|{_STYLE}|{'|'.join(_raw_text(name) for name in ('title', 'textarea', 'noembed', 'noframes', 'xmp'))}"
    r"|[^a-zA-Z/!?<]|(?=<)"
)

# In a link there may be no other link, and nothing that is read in its own way, for its text to be surely that.
_NOT_IN_LINK: Final = (
    rf"/?+(?:a[{S}/>]|s(?:cript|elect|tyle|vg)|t(?:[dhr][{S}/>]|able|body|emp|ext|foot|head|itle)|i(?:frame|mage)"
    r"|math|ca|col|fr|no(?:embed|frames)|plaintext|xmp)"
)
_TIDY_CONTENT: Final = rf"[^<]*+(?:<(?!/[^a-z]|{_NOT_IN_LINK})[a-z/][a-z0-9/:_-]*+{_TAG_REST}[^<]*+)*+"
_CONTENT: Final = (
    rf"[^<]*+(?:<(?:{_COMMENT}|{_DECLARATION}|{_SCRIPT}|{_STYLE}|{_SVG}"
    rf"|(?!(?i:{_NOT_IN_LINK}))/?+[a-zA-Z][^{S}/>]*+{_ATTRIBUTES}>|[^a-zA-Z/!?<]|(?=<))[^<]*+)*+"
)

# Groups: href and text. The plainest of links, and by far the most frequent: no rel, no markup inside.
_PLAIN_LINK: Final = r'a href="([^"]++)"(?: (?!rel=)[a-z0-9_:@.-]++="[^"]*+")*+>([^<]*+)</a>'
# Groups: attributes and content.
_LINK: Final = (
    rf"[aA](?=[{S}/])((?:{TIDY_ATTRIBUTE})++(?=>)|{_ATTRIBUTES})>({_TIDY_CONTENT}(?=</a>)|{_CONTENT})</[aA][{S}]*+>"
)
# Groups: name and attributes of any other start tag, or of </p>. If an element of raw text comes here, it has no end:
# then nothing more is read, as reading on and looking for ends again and again would take quadratic time.
_IFRAME: Final = rf"{_any_case('iframe')}(?={_ATTRIBUTES}>[^<]*+</{_any_case('iframe')}[{S}/>])"
_TAG: Final = (
    rf"({_IFRAME}|(?!(?i:iframe|noembed|noframes|script|style|textarea|title|xmp)[{S}/>])[a-zA-Z][^{S}/>]*+"
    rf"|/[pP](?=[{S}/>]))({_ATTRIBUTES})>"
)


def _tokens(notable: str) -> re.Pattern[str]:
    """Matches every link and every notable tag of a page, and at last its end or what defies reading."""
    run = rf"[^<]*+(?:<(?!{notable})[a-z/][a-z0-9/:_-]*+{_TAG_REST}[^<]*+)*+"
    passed_over = rf"(?:{_PASSED_OVER}){run}(?:<(?:{_PASSED_OVER}){run})*+"
    return re.compile(rf"{run}(?:<(?:{_PLAIN_LINK}|{passed_over}|{_LINK}|{_TAG}|(?s:(.).*+))|<?\Z)")


tokens = _tokens(_NOTABLE)


@cache
def tokens_with_paragraphs() -> re.Pattern[str]:
    """The same with the tags that tell where paragraphs are open."""
    return _tokens(f"{_NOTABLE}|{_PARAGRAPH}")


# The attributes of a link that has an href (its group) and no rel.
tidy_href = re.compile(
    r"""(?: (?!href=|rel=)[a-z][a-z0-9-]*+="[^"]*+")*+ href="([^"]*+)"(?: (?!rel=)[a-z][a-z0-9-]*+="[^"]*+")*+"""
)
# Text with harmless elements around parts of it, two deep at most.
_INLINE: Final = "abbr|b|cite|code|em|font|i|kbd|mark|q|samp|small|span|strong|sub|sup|time|tt|u|var"
inline_content = re.compile(
    rf"[^<]*+(?:<({_INLINE})(?:{TIDY_ATTRIBUTE})*+>[^<]*+"
    rf"(?:<({_INLINE})(?:{TIDY_ATTRIBUTE})*+>[^<]*+</\2>[^<]*+)*+</\1>[^<]*+)*+"
)
inline_tag = re.compile(rf"</?[a-z]++(?:{TIDY_ATTRIBUTE})*+>")
