"""Writing documents and the log of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import connection

from crawler.engine.contract import Outcome, PageOutcome
from crawler.frontier.bulk import insert_many, list_of, members, timestamp, update_many, uuid_key

COLUMNS = {
    "url_hash": "text",
    "url": "text",
    "domain": "text",
    "crawl_id": "bigint",
    "http_status": "smallint",
    "content_type": "text",
    "content_length": "integer",
    "content_encoding": "text",
    "charset": "text",
    "etag": "text",
    "last_modified": "timestamptz",
    "content_hash": "text",
    "simhash": "bigint",
    "storage_path": "text",
    "crawled_at": "timestamptz",
    "changed_at": "timestamptz",
    "depth": "smallint",
    "title": "text",
    "outlinks_count": "integer",
    "images_count": "integer",
    "is_truncated": "boolean",
    "is_duplicate": "boolean",
    "duplicate_of": "text",
    "near_duplicate_of": "text",
}
REPLACED = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS if name != "url_hash")
LOG_COLUMNS = {
    "crawl_run_id": "uuid",
    "page_url": "text",
    "url_hash": "text",
    "domain": "text",
    "status": "smallint",
    "error": "text",
    "outcome": "text",
    "content_type": "text",
    "bytes": "integer",
    "response_time_ms": "integer",
    "images_found": "integer",
    "outlinks_found": "integer",
    "address": "text",
    "storage_path": "text",
    "crawled_at": "timestamptz",
}


def write_documents(pages: Sequence[PageOutcome]) -> None:
    """Insert or replace. The first page with some content is the original; others say whose duplicate they are."""
    fetched = [page for page in pages if page.document and page.outcome is Outcome.PAGE]
    originals = _originals(page.document.content_hash for page in fetched if page.document)
    rows = {}  # two crawls may have fetched one URL in one batch: the later counts
    for page in fetched:
        facts, entry, moment = page.document, page.entry, timestamp(page.fetched_at)
        assert facts is not None  # noqa: S101  # filtered above; for the type checker
        original = originals.setdefault(facts.content_hash, entry.url_hash)
        duplicate_of = original if original != entry.url_hash else None
        near = facts.near_duplicate_of if duplicate_of is None else None
        rows[entry.url_hash] = (
            entry.url_hash, entry.url, entry.domain, entry.crawl_id, facts.http_status, facts.content_type,
            facts.content_length, facts.content_encoding, facts.charset, facts.etag, facts.last_modified,
            facts.content_hash, facts.simhash, facts.storage_path, moment, moment, entry.depth, facts.title,
            page.outlinks_found, facts.images_count, facts.is_truncated, duplicate_of is not None, duplicate_of, near,
        )  # fmt: skip
    with connection.cursor() as cursor:
        conflict = f"ON CONFLICT (url_hash) DO UPDATE SET {REPLACED}"
        insert_many(cursor, connection.vendor, "crawled_documents", COLUMNS, list(rows.values()), conflict)


def _originals(content_hashes: Iterable[str]) -> dict[str, str]:
    """The oldest document with each content that is no duplicate itself."""
    wanted = sorted(set(content_hashes))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT content_hash, url_hash FROM crawled_documents"
            f" WHERE content_hash {members(connection.vendor, 'text')} AND NOT is_duplicate",
            [list_of(connection.vendor, wanted)],
        )
        return dict(cursor.fetchall())


def touch_unchanged(pages: Sequence[PageOutcome]) -> None:
    """Pages that are as they were: only the time of the visit moves."""
    rows = [(page.entry.url_hash, timestamp(page.fetched_at)) for page in pages if page.outcome is Outcome.UNCHANGED]
    with connection.cursor() as cursor:
        columns = {"url_hash": "text", "crawled_at": "timestamptz"}
        update_many(cursor, connection.vendor, "crawled_documents", columns, rows)


def write_log(pages: Sequence[PageOutcome]) -> None:
    """One line for every attempt; what was refused before any request is told by the frontier's row."""
    rows = [_log_row(page) for page in pages if page.was_attempted]
    with connection.cursor() as cursor:
        insert_many(cursor, connection.vendor, "crawl_log", LOG_COLUMNS, rows)


def _log_row(page: PageOutcome) -> tuple[object, ...]:
    entry = page.entry
    run_id = uuid_key(connection.vendor, page.run_id)
    return (
        run_id, entry.url, entry.url_hash, entry.domain, page.status_code, page.error or page.detail,
        page.outcome.value, page.content_type, page.bytes_downloaded, int(page.response_seconds * 1000),
        len(page.images), page.outlinks_found, page.address, page.record,
        timestamp(page.fetched_at),
    )  # fmt: skip
