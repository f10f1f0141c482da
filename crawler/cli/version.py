from crawler import __version__


def version() -> None:
    """Print the version."""
    print(f"crawlspace {__version__}")
