from __future__ import annotations

import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crawler.fetch import resolver as module
from crawler.fetch.guard import Guard
from crawler.fetch.outcome import Failure, FailureKind
from crawler.fetch.resolver import Resolved, Resolver, literal_address, system_lookup

PUBLIC, OTHER, PRIVATE = "93.184.216.34", "1.1.1.1", "10.0.0.1"


@contextmanager
def resolver_of(lookup: Callable[[str], list[str]], **options: Any) -> Iterator[Resolver]:
    made = Resolver(Guard(), lookup=lookup, **options)
    try:
        yield made
    finally:
        made.close()


def answered(resolver: Resolver) -> list[str]:
    select.select([resolver.fileno()], [], [], 10)
    return resolver.answered()


def answer(resolver: Resolver, host: str) -> Resolved | Failure | None:
    resolver.ask(host)
    assert answered(resolver) == [host]
    return resolver.remembered(host)


def test_an_answer_is_remembered() -> None:
    asked: list[str] = []

    def lookup(host: str) -> list[str]:
        asked.append(host)
        return [PUBLIC, OTHER]

    with resolver_of(lookup) as resolver:
        assert resolver.remembered("example.org") is None
        found = answer(resolver, "example.org")
        assert isinstance(found, Resolved)
        assert found.addresses == (PUBLIC, OTHER)
        assert resolver.remembered("example.org") is found
        assert asked == ["example.org"]


def test_an_answer_is_forgotten_after_its_time() -> None:
    with resolver_of(lambda host: [PUBLIC], kept_seconds=0) as resolver:
        resolver.ask("example.org")
        assert answered(resolver) == ["example.org"]
        assert resolver.remembered("example.org") is None


def test_failures_are_remembered_too() -> None:
    def lookup(host: str) -> list[str]:
        raise UnicodeError("label too long")

    with resolver_of(lookup) as resolver:
        found = answer(resolver, "example.org")
        assert isinstance(found, Failure)
        assert (found.kind, found.temporary) == (FailureKind.DNS, False)


def test_one_private_address_spoils_the_name() -> None:
    with resolver_of(lambda host: [PUBLIC, PRIVATE]) as resolver:
        found = answer(resolver, "example.org")
        assert isinstance(found, Failure)
        assert found.kind is FailureKind.GUARD


def test_no_address_is_a_failure() -> None:
    with resolver_of(lambda host: []) as resolver:
        assert isinstance(answer(resolver, "example.org"), Failure)


def test_questions_about_one_name_share_a_lookup() -> None:
    asked: list[str] = []
    go_on = threading.Event()

    def lookup(host: str) -> list[str]:
        asked.append(host)
        go_on.wait(10)
        return [PUBLIC]

    with resolver_of(lookup) as resolver:
        resolver.ask("example.org")
        resolver.ask("example.org")
        go_on.set()
        assert answered(resolver) == ["example.org"]
        assert asked == ["example.org"]


def test_a_lookup_that_takes_too_long_is_given_up() -> None:
    go_on = threading.Event()

    def lookup(host: str) -> list[str]:
        go_on.wait(10)
        return [PUBLIC]

    with resolver_of(lookup, lookup_seconds=0) as resolver:
        resolver.ask("example.org")
        assert resolver.seconds_left() == 0
        assert resolver.answered() == ["example.org"]
        found = resolver.remembered("example.org")
        assert isinstance(found, Failure)
        assert found.temporary
        go_on.set()
        assert answered(resolver) == []  # what comes late is not believed


def test_addresses_need_no_lookup() -> None:
    with resolver_of(system_lookup) as resolver:
        assert isinstance(resolver.remembered(PUBLIC), Resolved)
        assert isinstance(resolver.remembered("[2606:4700:4700::1111]"), Resolved)
        assert isinstance(resolver.remembered("127.0.0.1"), Failure)
        assert isinstance(resolver.remembered("[::1]"), Failure)


@pytest.mark.parametrize(
    ("host", "address"), [("1.2.3.4", "1.2.3.4"), ("[::1]", "::1"), ("example.org", None), ("v1", None), ("", None)]
)
def test_literal_addresses(host: str, address: str | None) -> None:
    assert literal_address(host) == address


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NAMES_REMEMBERED", 2)
    with resolver_of(lambda host: [PUBLIC]) as resolver:
        for host in ("a.test", "b.test", "c.test"):
            answer(resolver, host)
        assert list(resolver.known) == ["b.test", "c.test"]


def test_the_system_knows_this_machine() -> None:
    assert "127.0.0.1" in system_lookup("localhost")
