"""PostgreSQL: how the tables of bots are stored and swept. Every job is updated at least twice in its life, and pulls
read the head of an index whose first entries are always the dead ones."""

from typing import Any

from django.db import migrations

STORAGE = {
    # Room in each page for the versions that a lock and an answer make; swept after 5,000 changes, however big it is.
    "bot_jobs": "fillfactor = 70, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,"
    " autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.02",
    "product_urls": "fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05",
    "domains": "fillfactor = 80",
}


# Entries of one moment are many; folded into one they could only be marked as dead together.
INDEXES = {"bot_jobs_queue": "deduplicate_items = off"}


def store(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for table, options in STORAGE.items():
            editor.execute(f"ALTER TABLE {table} SET ({options})")
        for index, options in INDEXES.items():
            editor.execute(f"ALTER INDEX {index} SET ({options})")


def unstore(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for table, options in STORAGE.items():
            names = ", ".join(option.partition("=")[0].strip() for option in options.split(","))
            editor.execute(f"ALTER TABLE {table} RESET ({names})")
        for index in INDEXES:
            editor.execute(f"ALTER INDEX {index} RESET (deduplicate_items)")


class Migration(migrations.Migration):
    dependencies = [("bots", "0001_first"), ("domains", "0001_initial")]
    operations = [migrations.RunPython(store, unstore)]
