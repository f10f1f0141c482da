"""Figures, screens and the summary of `crawler crawl`."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from crawler.cli.crawling.figures import Eye, Figures, SiteRow, of_line, sum_of, to_line
from crawler.cli.crawling.screens import Lines, Trouble, drawn, headline
from crawler.cli.crawling.summary import Ending, Result
from crawler.cli.crawling.watching import Rate, View
from crawler.cli.crawling.words import counted, duration, size
from crawler.crawls.review import ErrorGroup, LeftAlone, RefusedSeed, Review
from crawler.engine.progress import Progress, SiteProgress

SITE = SiteRow("example.com", 90, 1, 2, 5_000_000, "in 12 s")
RUN = Figures(90, 1, 2, 3, 5_000_000, 40, 1, "", [SITE], {"dead.example": "dead.example: no answer"}, 1)


def view(run: Figures = RUN, **changes: object) -> View:
    base = View("https://example.com/", sum_of([run]), run, 75.0, 12.4, 8.25, None, False)
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]  # by name


def test_figures_pass_through_a_pipe() -> None:
    assert of_line(to_line(RUN)) == RUN


def test_figures_of_several_are_added_up() -> None:
    other = Figures(10, 0, 0, 0, 1000, 40, 1, "disk full", [SITE._replace(domain="example.org", pages=500)])
    both = sum_of([RUN, other])
    assert (both.pages, both.bytes, both.queued, both.domains, both.paused) == (100, 5_001_000, 40, 2, "disk full")
    assert [row.domain for row in both.sites] == ["example.org", "example.com"]


def test_an_eye_sees_the_busiest_domains() -> None:
    progress = Progress(pages=7)
    progress.sites = {f"{number}.example": SiteProgress(pages=number) for number in range(40)}
    seen = Eye(progress).figures()
    assert (seen.pages, seen.domains) == (7, 40)
    assert [row.pages for row in seen.sites] == list(range(39, 27, -1))


def test_the_rate_is_that_of_the_last_seconds() -> None:
    rate = Rate()
    for second in range(20):
        rate(float(second), second * 100)
    assert rate(20.0, 1900) == pytest.approx(80, abs=5)


def test_a_terminal_shows_what_goes_on() -> None:
    from rich.console import Console

    console = Console(width=100, record=True, file=open("/dev/null", "w"))
    console.print(drawn(view(), 40))
    text = console.export_text()
    assert "90 pages  12.4/s now, 8.2/s overall  40 queued  1 failed  2 refused  5.0 MB" in text
    assert "in 12 s" in text
    assert "left alone: dead.example (no answer)" in text
    console.print(drawn(view(dataclasses.replace(RUN, paused="disk full"), is_stopping=True), 40))
    text = console.export_text()
    assert "paused: disk full" in text
    assert "Ctrl-C again leaves at once" in text
    console.file.close()


def test_a_limit_is_shown_with_the_pages() -> None:
    assert headline(view(max_pages=1500)).startswith("90 of 1,500 pages")


def test_without_a_terminal_trouble_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    for screen in (Trouble(), Lines()):
        for paused in ("", "disk full", "disk full", ""):
            screen.show(view(dataclasses.replace(RUN, paused=paused)))
        said = capsys.readouterr()
        assert said.err == "crawler: paused: disk full; trying again every few seconds\ncrawler: going on\n"
        assert said.out == ""


REVIEW = Review(90, 1, 3, 5_000_000, 0, 90, 5_000_000, {"domain": 3}, [ErrorGroup("HTTP 404", 1, "http://a/x")], [], [])


def result(ending: Ending = Ending.COMPLETE, review: Review = REVIEW, **changes: object) -> Result:
    base = Result(ending, review, Figures(), "job_1", False, False, 9.0, 0.5, "/x/db", "/x/archive", "crawler crawl …")
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize(
    ("ending", "code"),
    [(Ending.COMPLETE, 0), (Ending.FAILED, 1), (Ending.INCOMPLETE, 3), (Ending.INTERRUPTED, 130)],
)
def test_exit_codes(ending: Ending, code: int) -> None:
    assert result(ending, stop_code=130).exit_code == code


def test_a_complete_crawl_in_words() -> None:
    text = result(out="/x").to_text()
    assert text.startswith("Complete: 90 pages, 5.0 MB, 9.0 s (10.0 pages/s).")
    assert "1   HTTP 404, e.g. http://a/x" in text
    assert "3   domain: Its domain is not among the crawl's domains." in text
    assert text.endswith("Why a URL was not fetched: crawler explain URL --out /x")


def test_an_incomplete_crawl_says_what_waits_and_how_to_go_on() -> None:
    waits = LeftAlone("slow.example", "", datetime(2027, 1, 2, 3, 4, tzinfo=UTC), 7)
    run = Figures(parked={"slow.example": "robots.txt: HTTP 503", "gone.example": "gone.example: no answer"})
    found = result(Ending.INCOMPLETE, dataclasses.replace(REVIEW, queued=7, left_alone=[waits]), run=run)
    text = found.to_text()
    assert "7 URLs wait." in text
    assert "slow.example: robots.txt: HTTP 503, 7 URLs wait, not asked again before 2027-01-02 03:04 UTC" in text
    assert "gone.example: no answer\n" in text
    assert "To resume: crawler crawl …" in text
    assert [row["until"] for row in found.to_json()["domains_left_alone"]] == ["2027-01-02T03:04:00Z", None]


def test_a_private_seed_names_the_setting_that_allows_it() -> None:
    seed = RefusedSeed("http://in.example/", "guard", "in.example: 10.1.2.3 is not public (private)")
    text = result(Ending.FAILED, dataclasses.replace(REVIEW, refused_seeds=[seed])).to_text()
    assert "set FETCH_ALLOWED_NETWORKS=10.1.2.3/32" in text


def test_numbers_as_people_read_them() -> None:
    assert [size(count) for count in (0, 999, 1_400, 2_500_000_000, 7e15)] == [
        "0 B", "999 B", "1.4 kB", "2.5 GB", "7000.0 TB",
    ]  # fmt: skip
    assert [duration(seconds) for seconds in (7.9, 754, 12_300)] == ["0:07", "12:34", "3:25:00"]
    assert (counted(1, "page"), counted(2000, "page")) == ("1 page", "2,000 pages")
