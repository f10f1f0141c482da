from crawler.cli.ready import load_django


def migrate() -> None:
    """Bring the database up to date. Safe to run from several machines at once."""
    config = load_django(migrated=False)
    from crawler.project.migrations import apply_migrations, pending_migrations, setup_lock

    with setup_lock():
        pending = pending_migrations()
        apply_migrations()
    print(f"{len(pending)} migration(s) applied to {config.database_url}")
