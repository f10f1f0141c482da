"""Writing the links and images of a batch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from django.db import connection

from crawler.engine.contract import Outcome, PageOutcome
from crawler.frontier.bulk import insert_many, list_of, members, timestamp, uuid_key

# Python writes a list of whole numbers as JSON does; texts need an encoder, made once.
encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
OUTLINKS = {
    "source_id": "bigint",
    "targets": "text",
    "anchors": "text",
    "types": "text",
    "discovered_at": "timestamptz",
}
REPLACED = ", ".join(f"{name} = excluded.{name}" for name in OUTLINKS if name != "source_id")
INLINKS = {"target_id": "bigint", "sources": "text"}


def write_links(pages: Sequence[PageOutcome], ids: Mapping[tuple[int, str], int]) -> None:
    """Forwards one row a page; backwards one row for every target of the batch."""
    forwards = []
    backwards: dict[int, list[int]] = {}
    for page in pages:
        was_read = page.outcome is Outcome.PAGE and page.entry.crawl_count  # links that are gone are gone
        if not page.targets and not was_read:
            continue
        source, crawl = page.entry.id, page.entry.crawl_id
        targets = [one if type(one) is int else ids[crawl, one] for one in page.targets]  # type: ignore[index]
        types = encode(page.types) if page.types else ""
        forwards.append((source, str(targets), encode(page.anchors), types, timestamp(page.fetched_at)))
        for target in targets:
            if target in backwards:
                backwards[target].append(source)
            else:
                backwards[target] = [source]
    # In the order of the index: neighbours are written together.
    inwards = [(target, str(backwards[target])) for target in sorted(backwards)]
    with connection.cursor() as cursor:
        conflict = f"ON CONFLICT (source_id) DO UPDATE SET {REPLACED}"
        insert_many(cursor, connection.vendor, "page_outlinks", OUTLINKS, forwards, conflict)
        insert_many(cursor, connection.vendor, "page_inlinks", INLINKS, inwards)


IMAGES = {
    "url_hash": "text",
    "url": "text",
    "alt": "text",
    "width": "integer",
    "height": "integer",
    "first_seen_at": "timestamptz",
    "last_seen_at": "timestamptz",
}
PROVENANCE = {
    "image_id": "bigint",
    "source_page_hash": "text",
    "source_page_url": "text",
    "source_domain": "text",
    "discovery_type": "text",
    "crawl_run_id": "uuid",
    "discovered_at": "timestamptz",
}


def write_images(pages: Sequence[PageOutcome]) -> None:
    """Every image once, and where it was seen."""
    seen = [page for page in pages if page.images and page.outcome is Outcome.PAGE]
    images = {image.url_hash: (image, page) for page in seen for image in page.images}
    if not images:
        return
    rows = []
    for url_hash in sorted(images):
        image, page = images[url_hash]
        moment = timestamp(page.fetched_at)
        rows.append((url_hash, image.url, image.alt, image.width, image.height, moment, moment))
    with connection.cursor() as cursor:
        conflict = "ON CONFLICT (url_hash) DO UPDATE SET last_seen_at = excluded.last_seen_at"
        insert_many(cursor, connection.vendor, "images", IMAGES, rows, conflict)
        cursor.execute(
            f"SELECT url_hash, id FROM images WHERE url_hash {members(connection.vendor, 'text')}",
            [list_of(connection.vendor, images)],
        )
        numbers = dict(cursor.fetchall())
        insert_many(
            cursor, connection.vendor, "provenance", PROVENANCE, _provenance(seen, numbers), "ON CONFLICT DO NOTHING"
        )


def _provenance(pages: Sequence[PageOutcome], numbers: Mapping[str, int]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for page in pages:
        entry = page.entry
        run_id = uuid_key(connection.vendor, page.run_id)
        kind = "refresh" if entry.crawl_count else "discovery"
        for url_hash in sorted({image.url_hash for image in page.images}):
            rows.append(
                (numbers[url_hash], entry.url_hash, entry.url, entry.domain, kind, run_id, timestamp(page.fetched_at))
            )
    return rows
