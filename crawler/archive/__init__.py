"""Where fetched bytes rest: WARC 1.1 files in a folder or in an object store. No Django.

`open_archive` gives an Archive to write to, `read` one record back. contract.py says what callers may rely on.
"""

from crawler.archive.contract import (
    Archive,
    ArchiveUnavailable,
    Capture,
    Location,
    Original,
    Record,
    RecordUnreadable,
)
from crawler.archive.opening import open_archive
from crawler.archive.reading import open_reader, read

__all__ = [
    "Archive",
    "ArchiveUnavailable",
    "Capture",
    "Location",
    "Original",
    "Record",
    "RecordUnreadable",
    "open_archive",
    "open_reader",
    "read",
]
