"""Browsers come and go: worn, killed, over their limits, orphaned. None stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest

from crawler.fetch.browser import PageLimits, system
from crawler.fetch.browser.process import BrowserProcess
from crawler.fetch.outcome import Failure, FailureKind, Request, Response, Truncation
from tests.browser import installed
from tests.browser.site import PATIENCE_SECONDS, Answer, Site, Visitor, visiting

installed.require()
pytestmark = pytest.mark.xdist_group("browser")

EATS = "<script>for (const eaten = [];;) eaten.push(new Uint8Array(32 << 20).fill(1))</script>"
BUSY = "<p>busy<script>const again = () => fetch('/poll').finally(again); again()</script>"


def process_of(visitor: Visitor) -> BrowserProcess:
    return next(reversed(visitor.renderer.processes.values()))


def wait_until_gone(sessions: set[int]) -> None:
    until = monotonic() + PATIENCE_SECONDS
    while system.in_sessions(sessions):
        assert monotonic() < until, "something of the browser lives on"


def test_a_page_that_eats_memory_is_killed_alone(site: Site) -> None:
    site.pages = {"/": Answer("<p>fine"), "/eats": Answer(EATS), "/busy": Answer(BUSY), "/poll": Answer("")}
    with visiting(memory_limit_bytes=1 << 30, limits=PageLimits(settle_seconds=6)) as visitor:
        visitor.page(f"{site.url}/")
        first = process_of(visitor)
        for name in ("busy", "eats"):
            visitor.renderer.start(Request(f"{site.url}/{name}"), name)
        assert len(first.pages) == 2
        outcomes = visitor.collect()
        eaten, busy = outcomes["eats"], outcomes["busy"]
        assert isinstance(eaten, Failure)
        assert (eaten.kind, eaten.temporary) == (FailureKind.INCOMPLETE, True)
        assert "memory" in eaten.message
        assert isinstance(busy, Response), busy
        assert first.is_worn
        assert b"<p>fine" in visitor.page(f"{site.url}/").body
        assert process_of(visitor) is not first


def test_a_browser_is_replaced_after_its_pages(site: Site) -> None:
    site.pages = {"/": Answer("<p>fine")}
    with visiting(recycle_after_pages=2, max_pages=1) as visitor:
        processes = []
        for _ in range(3):
            visitor.page(f"{site.url}/")
            processes.append(process_of(visitor))
        assert processes[0] is processes[1]
        assert processes[1] is not processes[2]
        wait_until_gone(processes[0].sessions)


def test_a_killed_browser_process_fails_its_pages_and_is_replaced(site: Site) -> None:
    with visiting() as visitor:
        site.pages = {"/": Answer("<p>fine")}
        visitor.page(f"{site.url}/")
        first = process_of(visitor)
        killed = Killing(first.process.pid)
        site.pages["/kills"] = killed
        failure = visitor.failure(f"{site.url}/kills")
        assert failure.temporary
        wait_until_gone(first.sessions | {first.process.pid})
        assert not Path(first.folder).exists()
        assert b"<p>fine" in visitor.page(f"{site.url}/").body


def test_a_killed_chromium_fails_its_pages_and_is_replaced(site: Site) -> None:
    with visiting() as visitor:
        site.pages = {"/": Answer("<p>fine")}
        visitor.page(f"{site.url}/")
        first = process_of(visitor)
        site.pages["/kills"] = Killing(*first.sessions)
        assert visitor.failure(f"{site.url}/kills").temporary
        assert b"<p>fine" in visitor.page(f"{site.url}/").body


class Killing:
    """An answer that ends these processes first."""

    def __init__(self, *pids: int) -> None:
        self.pids = pids

    def __call__(self) -> Answer:
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
        return Answer("too late")


def test_closing_leaves_nothing_behind(site: Site) -> None:
    site.pages = {"/": Answer("<p>fine"), "/loop": Answer("<script>for (;;);</script>")}
    with visiting() as visitor:
        visitor.page(f"{site.url}/")
        process = process_of(visitor)
        visitor.renderer.start(Request(f"{site.url}/loop"), "loop")
        assert system.in_sessions(process.sessions)
    assert not system.in_sessions(process.sessions | {process.process.pid})
    assert not Path(process.folder).exists()


ORPHAN = """
import select, sys
from tests.browser.site import Visitor
visitor = Visitor()
visitor.page(sys.argv[1])
process = next(iter(visitor.renderer.processes.values()))
print(process.folder, process.process.pid, *process.sessions, flush=True)
sys.stdin.read()
"""


def test_the_browser_ends_with_its_parent(site: Site) -> None:
    site.pages = {"/": Answer("<p>fine")}
    command = [sys.executable, "-c", ORPHAN, f"{site.url}/"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        folder, *numbers = parent.stdout.readline().split()
        sessions = set(map(int, numbers))
        assert len(system.in_sessions(sessions)) > 2
        parent.kill()
    wait_until_gone(sessions)
    assert not Path(folder).exists()


def test_a_page_takes_no_more_than_its_share(site: Site) -> None:
    many = "<body><script>for (let i = 0; i < 50; i++) fetch('/part' + i);</script><p>here"
    large = (
        "<body><script>fetch('/large').then(answer => answer.text()).then(text => document.write(text.length))</script>"
    )
    site.pages = {"/many": Answer(many), "/big": Answer(large + "<p>here"), "/large": Answer(b"x" * 3_000_000)}
    with visiting(limits=PageLimits(max_requests=10, max_download_bytes=1_000_000)) as visitor:
        page = visitor.page(f"{site.url}/many")
        assert b"<p>here" in page.body
        assert len(site.asked) <= 10
        page = visitor.page(f"{site.url}/big")
        assert b"<p>here" in page.body
        assert b"3000000" not in page.body
        assert page.truncated is Truncation.LENGTH


def test_waiting_pages_do_not_outlive_a_browser_that_never_ran(site: Site) -> None:
    with visiting(chromium_path="/bin/false", max_pages=1) as visitor:
        for ticket in range(3):
            visitor.renderer.start(Request(f"{site.url}/"), ticket)
        outcomes = visitor.collect()
    assert len(outcomes) == 3
    assert all(isinstance(outcome, Failure) for outcome in outcomes.values())


def test_a_system_without_room_fails_the_page(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with visiting() as visitor:
        failure = visitor.failure(f"{site.url}/")
    assert failure.temporary
    assert "no browser can be started" in failure.message
