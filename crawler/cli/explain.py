from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from crawler.cli.problems import FAILED, MISUSED, fail
from crawler.cli.ready import load_django


def explain(
    url: Annotated[str, typer.Argument(help="The URL, in any spelling.")],
    out: Annotated[Path | None, typer.Option(help="The folder of a `crawler crawl --out`.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, the same as the API's.")] = False,
) -> None:
    """Tell the whole story of a URL: where it was found, what was decided, each fetch, what comes next.

    Exit code 1 when no crawl knows it; what the crawls would say to it is told then.
    """
    if out is not None:
        look_into(out)
    load_django()
    from ninja.responses import NinjaJSONEncoder

    from crawler.cli.story import print_story
    from crawler.crawls.queries import explain as story_of
    from crawler.foundation.errors import InvalidInput

    try:
        story = story_of.explain(url)
    except InvalidInput as error:
        fail(error.reason or error.message, MISUSED)
    if as_json:
        print(json.dumps(story.model_dump(), cls=NinjaJSONEncoder, indent=2, ensure_ascii=False))
    else:
        print_story(story)
    if not story.is_known:
        raise typer.Exit(FAILED)


def look_into(folder: Path) -> None:
    """Settings that point to a crawl's own folder, if there is a crawl in it."""
    from crawler.cli.crawling.place import move_in

    if not (folder.expanduser() / "crawl.sqlite3").is_file():
        fail(f"--out: there is no crawl in {folder}", MISUSED)
    move_in(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.project.crawl_settings"  # those that its database was made by
