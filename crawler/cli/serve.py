from typing import Annotated

import typer

from crawler.cli.ready import load_django

StopWithParent = Annotated[bool, typer.Option("--stop-with-parent", hidden=True)]


def serve(stop_with_parent: StopWithParent = False) -> None:
    """Run the API and page server alone."""
    config = load_django()
    from crawler.processes import heartbeat
    from crawler.project import server, startup

    startup.check_port(config)
    if stop_with_parent:
        heartbeat.stop_with_parent()
    with heartbeat.signed_in("server"):
        server.serve(config)
