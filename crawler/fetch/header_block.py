"""Response headers as bytes and as a mapping: cut out of what libcurl hands over, read leniently.

libcurl passes every line it meets: interim answers (1xx), the final one, and the trailers behind a chunked body.
Only the final answer's own lines count.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

END_OF_HEADERS = (b"\r\n", b"\n")


class Head(NamedTuple):
    """The final answer's status line and headers, without the empty line at their end."""

    block: bytes
    interim: int  # answers before it
    is_complete: bool  # the empty line came


def final_head(lines: list[bytes]) -> Head:
    if lines and lines[-1] == b"\r\n" and lines.index(b"\r\n") == len(lines) - 1:  # what nearly every server sends
        return Head(b"".join(lines)[:-4], 0, True)
    return _final_of_many(lines)


def _final_of_many(lines: list[bytes]) -> Head:
    starts = [number for number, line in enumerate(lines) if line.startswith(b"HTTP/") and _opens(lines, number)]
    if not starts:
        return Head(b"", 0, False)
    last = lines[starts[-1] :]
    end = next((number for number, line in enumerate(last) if line in END_OF_HEADERS), None)
    kept = last[:end]  # what follows are trailers
    return Head(b"".join(kept).rstrip(b"\r\n"), len(starts) - 1, end is not None)


def _opens(lines: list[bytes], number: int) -> bool:
    """A status line stands first or behind the empty line of the answer before."""
    return number == 0 or lines[number - 1] in END_OF_HEADERS


@lru_cache(16)  # asked for twice within one transfer: is the body wanted, and in the end
def parsed_headers(block: bytes) -> Mapping[str, str]:
    """By lower-case name, repeated ones joined by ", ", folded lines by a space. Lines without a colon are noise.

    Bytes become characters one to one (Latin-1), except NUL, which goes: databases cannot hold it.
    """
    found: dict[str, str] = {}
    name = ""
    for line in block.decode("latin-1").replace("\0", "").split("\n")[1:]:
        if line[:1] in (" ", "\t"):
            if name:
                found[name] = f"{found[name]} {line.strip()}"
            continue
        name, colon, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if not (colon and name):
            name = ""
        elif name in found:
            found[name] = f"{found[name]}, {value}"
        else:
            found[name] = value
    return found
