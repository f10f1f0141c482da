from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from crawler.cli.problems import FAILED, MISUSED, fail
from crawler.cli.ready import load_django
from crawler.cli.tables import print_table

if TYPE_CHECKING:
    from crawler.bots.products.importing import ImportSummary
    from crawler.bots.products.listing import Product

app = typer.Typer(help="Products: import URLs, list, export.", no_args_is_help=True)

STDIN = "-"
FORMS = ("text", "csv", "ndjson", "json")
REFUSALS_SHOWN, DOMAINS_SHOWN = 20, 10


@app.command("import")
def import_file(
    file: Annotated[str, typer.Argument(help="Text, CSV, NDJSON or JSON, or one of them packed by gzip; - is stdin.")],
    form: Annotated[str | None, typer.Option(help="text, csv, ndjson or json; default: by the file's ending.")] = None,
    frequency_hours: Annotated[
        int | None,
        typer.Option(min=1, help="Give domains that have no policy one that visits their URLs so often."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be added, and write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
) -> None:
    """Add the product URLs of a file. Run again, it adds only what is new.

    Exit code 1 when not one URL of the file could be used.
    """
    if form is not None and form not in FORMS:
        fail(f"--form: {form!r} is unknown; choose one of {', '.join(FORMS)}", MISUSED)
    with opened(file) as stream:
        load_django()
        summary = run_import(stream, file, form, frequency_hours, dry_run)
    if as_json:
        print(json.dumps(summary.as_dict(), indent=2, ensure_ascii=False))
    else:
        print_summary(summary, file)
    if summary.refused and summary.refused == summary.read:
        raise typer.Exit(FAILED)


@contextmanager
def opened(file: str) -> Iterator[BinaryIO]:
    if file == STDIN:
        yield sys.stdin.buffer
        return
    if Path(file).is_dir():
        fail(f"{file} is a folder, not a file", MISUSED)
    with open(file, "rb") as stream:
        yield stream


def run_import(stream: BinaryIO, file: str, form: str | None, hours: int | None, dry_run: bool) -> ImportSummary:
    from crawler.accounts.actors import actor_of_terminal
    from crawler.bots.products.files import Form
    from crawler.bots.products.importing import import_product_urls

    name = "" if file == STDIN else Path(file).name
    latest: list[ImportSummary] = []
    try:
        with progress(stream, file) as show:

            def note(summary: ImportSummary) -> None:
                latest[:] = [summary]
                show(summary)

            return import_product_urls(
                stream,
                by=actor_of_terminal(),
                name=name,
                form=Form(form) if form else None,
                frequency_hours=hours,
                dry_run=dry_run,
                on_progress=note,
            )
    except KeyboardInterrupt:
        done = latest[0].added if latest else 0
        print(f"crawler: stopped; {done:,} URLs were added. Run it again to go on.", file=sys.stderr)
        raise


@contextmanager
def progress(stream: BinaryIO, file: str) -> Iterator[Callable[[ImportSummary], None]]:
    """A bar on a terminal: of the file's bytes, or of nothing but the count where nobody knows the end."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    size = None if file == STDIN else Path(file).stat().st_size
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[counts]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("importing", total=size, counts="")

        def show(summary: ImportSummary) -> None:
            counts = f"{summary.read:,} read, {summary.added:,} added"
            bar.update(task, completed=0 if size is None else stream.tell(), counts=counts)

        yield show


def print_summary(summary: ImportSummary, file: str) -> None:
    would = "would be added" if summary.dry_run else "added"
    print(f"{summary.added:>10,}  {would}")
    print(f"{summary.known:>10,}  known before")
    print(f"{summary.repeated:>10,}  repeated in the file")
    print(f"{summary.refused:>10,}  refused")
    for refusal in summary.refusals[:REFUSALS_SHOWN]:
        print(f"            line {refusal.line}: {refusal.text[:100]!r}: {refusal.reason}")
    if summary.refused > REFUSALS_SHOWN:
        print(f"            and {summary.refused - REFUSALS_SHOWN:,} more; --json lists the first 100")
    if summary.policies_made:
        print(f"{summary.policies_made:>10,}  {'policy' if summary.policies_made == 1 else 'policies'} made")
    if not summary.read:
        print("The file has no URLs: it is empty, or all comments.")
    if summary.without_policy:
        print_resting(summary, file)


def print_resting(summary: ImportSummary, file: str) -> None:
    """Newcomers would wait for visits that never come."""
    named = list(summary.domains_without_policy.items())
    shown = ", ".join(f"{domain} ({count:,})" for domain, count in named[:DOMAINS_SHOWN])
    more = "" if len(named) <= DOMAINS_SHOWN else ", …"
    print(f"\n{summary.without_policy:,} URLs are covered by no policy, so nobody visits them: {shown}{more}")
    print("A policy says how often a domain is visited. Make them in the admin pages, or for whole domains:")
    print(f"  crawler products import {file} --frequency-hours 24")


@app.command("list")
def list_products(
    domain: Annotated[str | None, typer.Option(help="Only products of this domain.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="So many at most.")] = 50,
    sort: Annotated[str, typer.Option(help="url, price or changed; with - before it the other way round.")] = "url",
    as_json: Annotated[bool, typer.Option("--json", help="Print the API's object.")] = False,
) -> None:
    """List products with their last price and next visit."""
    load_django()
    from crawler.bots.exact_json import dumps
    from crawler.bots.products.listing import Filters, page_of_products

    page, more = page_of_products(Filters(domain=domain, sort=sort), limit=limit)
    if as_json:
        rows = [product._asdict() for product in page]
        print(dumps({"products": rows, "pagination": {"limit": limit, "next_cursor": more}}))
        return
    titles = ("url", "price", "stock", "last result", "next visit", "policy", "title")
    print_table(titles, [product_row(product) for product in page])
    if more:
        print(f"\nThe first {limit}; --limit shows more, crawler products export all of them.")


def product_row(product: Product) -> list[str]:
    from crawler.bots.products.exporting import cell

    price = f"{cell(product.price)} {product.currency}" if product.price is not None else "-"
    stock = {True: "yes", False: "no", None: "-"}[product.in_stock]
    times = [when.strftime("%Y-%m-%d %H:%M") if when else "-" for when in (product.last_result_at, product.next_due_at)]
    return [product.url, price, stock, *times, product.policy or "none", product.title or ""]


@app.command()
def export(
    out: Annotated[Path | None, typer.Option(help="The file to write; default: standard output.")] = None,
    form: Annotated[str, typer.Option(help="csv or ndjson.")] = "csv",
    domain: Annotated[str | None, typer.Option(help="Only products of this domain.")] = None,
    sort: Annotated[str, typer.Option(help="url, price or changed; with - before it the other way round.")] = "url",
) -> None:
    """Write all products with their last prices as CSV or NDJSON."""
    if form not in ("csv", "ndjson"):
        fail(f"--form: {form!r} is unknown; choose csv or ndjson", MISUSED)
    load_django()
    from crawler.bots.products.exporting import written
    from crawler.bots.products.listing import Filters, Product, every_product

    pieces = written(every_product(Filters(domain=domain, sort=sort)), Product._fields, form)
    if out is None:
        print_all(pieces)
        return
    with open(out, "w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)


def print_all(pieces: Iterator[str]) -> None:
    """Whoever reads may stop, as `head` does."""
    try:
        for piece in pieces:
            sys.stdout.write(piece)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
