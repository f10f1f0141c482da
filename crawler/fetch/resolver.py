"""Names to addresses: looked up in threads, kept for a while, every address judged by the guard.

`remembered` answers at once or not at all; `ask` has a name looked up; when `fileno` becomes readable, `answered`
tells which names have their answer. One address that may not be reached spoils its name: public and private addresses
under one name are what an attack by rebinding looks like. Questions about one name share one look-up.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from time import monotonic

from crawler.fetch.guard import Guard
from crawler.fetch.outcome import Failure, FailureKind

# The system's resolver does not tell how long an answer holds; five minutes is what most of the web asks for.
KEPT_SECONDS = 300.0
FAILURE_KEPT_SECONDS = 30.0
NAMES_REMEMBERED = 100_000
LOOKUP_SECONDS = 15.0
THREADS = 32

TEMPORARY = frozenset({socket.EAI_AGAIN, socket.EAI_MEMORY, socket.EAI_SYSTEM})

Lookup = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The addresses of a host, all of which may be connected to, best first."""

    addresses: tuple[str, ...]
    until: float  # on the monotonic clock


def system_lookup(host: str) -> list[str]:
    """By the operating system. IPv4 first: it is what works everywhere."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(str(entry[4][0]) for entry in found)
    return sorted(addresses, key=lambda address: ":" in address)


class Resolver:
    """One for a fetcher. `lookup` may block and raise what `socket.getaddrinfo` raises."""

    def __init__(
        self,
        guard: Guard,
        *,
        lookup: Lookup = system_lookup,
        lookup_seconds: float = LOOKUP_SECONDS,
        kept_seconds: float = KEPT_SECONDS,
        threads: int = THREADS,
    ) -> None:
        self.guard = guard
        self.lookup = lookup
        self.lookup_seconds = lookup_seconds
        self.kept_seconds = kept_seconds
        self.most_threads = threads
        self.known: OrderedDict[str, tuple[float, Resolved | Failure]] = OrderedDict()
        self.asked_at: dict[str, float] = {}  # in the order of asking
        self._questions: SimpleQueue[str | None] = SimpleQueue()
        self._found: deque[tuple[str, list[str] | Failure]] = deque()
        self._threads: list[threading.Thread] = []
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._event_lock = threading.Lock()
        self._closed = False

    def fileno(self) -> int:
        return self._event

    def remembered(self, host: str) -> Resolved | Failure | None:
        """The answer without waiting, when there is one."""
        entry = self.known.get(host)
        if entry is not None and entry[0] > monotonic():
            return entry[1]
        if address := literal_address(host):
            return self._remember(host, [address])
        return None

    def ask(self, host: str) -> None:
        if host in self.asked_at:
            return
        self.asked_at[host] = monotonic()
        self._questions.put(host)
        if len(self._threads) < min(self.most_threads, len(self.asked_at)):
            thread = threading.Thread(target=self._work, name="dns", daemon=True)
            self._threads.append(thread)
            thread.start()

    def answered(self) -> list[str]:
        """The names that got an answer since the last call, or waited for one too long."""
        with suppress(BlockingIOError):  # nobody rang: an answer is there a moment before its bell
            os.eventfd_read(self._event)
        names = []
        while self._found:
            host, found = self._found.popleft()
            if self.asked_at.pop(host, None) is not None:  # else it came too late and was given up
                self._remember(host, found)
                names.append(host)
        return names + self._given_up()

    def seconds_left(self) -> float | None:
        """Until the oldest look-up is given up."""
        oldest = next(iter(self.asked_at.values()), None)
        return None if oldest is None else max(0.0, oldest + self.lookup_seconds - monotonic())

    def close(self) -> None:
        """Does not wait for look-ups under way: their threads end with them."""
        with self._event_lock:
            self._closed = True
            os.close(self._event)
        for _ in self._threads:
            self._questions.put(None)

    def _given_up(self) -> list[str]:
        limit = monotonic() - self.lookup_seconds
        late = []
        for host, asked_at in self.asked_at.items():
            if asked_at > limit:
                break
            late.append(host)
        for host in late:
            del self.asked_at[host]
            message = f"{host}: no answer in {self.lookup_seconds:.0f} s"
            self._remember(host, Failure(FailureKind.DNS, message, temporary=True))
        return late

    def _work(self) -> None:
        while (host := self._questions.get()) is not None:
            self._found.append((host, self._looked_up(host)))
            with self._event_lock:
                if self._closed:
                    return
                os.eventfd_write(self._event, 1)

    def _looked_up(self, host: str) -> list[str] | Failure:
        try:
            return self.lookup(host)
        except socket.gaierror as error:
            temporary = error.errno in TEMPORARY
            return Failure(FailureKind.DNS, f"{host}: {error.strerror or error}", temporary=temporary)
        except (UnicodeError, OSError) as error:
            return Failure(FailureKind.DNS, f"{host}: {error}", temporary=isinstance(error, OSError))

    def _remember(self, host: str, found: list[str] | Failure) -> Resolved | Failure:
        answer = found if isinstance(found, Failure) else self._judged(host, found)
        until = answer.until if isinstance(answer, Resolved) else monotonic() + FAILURE_KEPT_SECONDS
        self.known[host] = (until, answer)
        self.known.move_to_end(host)
        if len(self.known) > NAMES_REMEMBERED:
            self.known.popitem(last=False)
        return answer

    def _judged(self, host: str, addresses: list[str]) -> Resolved | Failure:
        if not addresses:
            return Failure(FailureKind.DNS, f"{host}: no address", temporary=False)
        refusal = next((reason for reason in map(self.guard.refusal, addresses) if reason), None)
        if refusal:
            return Failure(FailureKind.GUARD, f"{host}: {refusal}", temporary=False)
        return Resolved(tuple(addresses), monotonic() + self.kept_seconds)


def literal_address(host: str) -> str | None:
    """The address when the host is one and no name."""
    if not (host.startswith("[") or host[-1:].isdigit()):
        return None
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return None
