"""Is a crawl complete? Three documentation sites, crawled by the real command, beside what is known of them.

    python -m benchmarks.engine.bench_complete [--quick]

For each: the crawled pages are exactly the reachable ones, the failed ones exactly those that do not exist, nothing
was asked for twice, records are read back by range and by warcio, links are found from both ends. (bench_crawl does the
same for the fourth, largest site.) Wrong results make the exit code 1. `--quick` takes the smallest site alone.
"""

import argparse

from benchmarks import corpora
from benchmarks.engine.completeness import check
from benchmarks.engine.crawls import crawl, scratch_folder
from benchmarks.engine.processes import cores
from benchmarks.engine.verdicts import HEADING, row
from benchmarks.engine.webserver import serve_sites


def run(chosen: tuple[corpora.Corpus, ...]) -> int:
    """How many checks failed."""
    for_server, for_crawler = cores(2)
    folders = [corpora.folder_of(corpus) for corpus in chosen]
    wrong = 0
    with serve_sites(folders, [for_server]) as (_, ports):
        for corpus, root, port in zip(chosen, folders, ports, strict=True):
            with scratch_folder() as out:
                done = crawl([f"http://127.0.0.1:{port}{corpus.start}"], out, [for_crawler])
                print(f"{corpus.package}\n{HEADING}\n{row(f'{done.pages:,} pages', done)}")
                wrong += check(corpus, root, out)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest site alone")
    quick = parser.parse_args().quick
    wrong = run(corpora.OTHERS[-1:] if quick else corpora.OTHERS)
    print(f"complete: {'yes' if not wrong else f'NO, {wrong} checks failed'}")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
