"""A site on loopback that knows what it was asked, when, and may do harm at a chosen request.

It listens on several addresses (hosts) at one port. Its log has monotonic times that cannot blame a polite crawler:
an answer's end is noted before its last byte is sent, a request's beginning after its last byte came.
"""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.parser import Parser
from time import monotonic
from types import TracebackType
from typing import NamedTuple

from tests.sockets import read_head, shut

CAME, HALF, SENT = "came", "half", "sent"
PHASES = (CAME, HALF, SENT)


@dataclass(slots=True)
class Asked:
    """One request, as the server's log has it."""

    number: int
    host: str
    path: str
    headers: Mapping[str, str]  # lower-case names
    began: float
    ended: float = 0.0


class Reply(NamedTuple):
    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = {}

    def encoded(self) -> bytes:
        body = self.body.encode() if isinstance(self.body, str) else self.body
        headers = {"Content-Type": "text/html", "Content-Length": str(len(body)), **self.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"HTTP/1.1 {self.status} Whatever\r\n{lines}\r\n".encode() + body


Answers = Callable[[Asked], Reply]
Harm = Callable[[], object]


@dataclass(slots=True)
class Planned:
    """Something that happens once, when the request of that number (from the plan's making) is in that phase."""

    number: int
    phase: str
    harm: Harm
    happened: threading.Event = field(default_factory=threading.Event)


class LoopbackSite:
    def __init__(self, answers: Answers, hosts: tuple[str, ...] = ("127.0.0.1",)) -> None:
        self.answers = answers
        self.log: list[Asked] = []
        self.lock = threading.Lock()
        self.plans: list[Planned] = []
        self.hangs_up: set[str] = set()  # paths after whose answers the connection is closed
        self.open: set[socket.socket] = set()
        first = socket.create_server((hosts[0], 0), backlog=100)
        self.port: int = first.getsockname()[1]
        self.listeners = [first, *(socket.create_server((host, self.port), backlog=100) for host in hosts[1:])]
        self.threads: list[threading.Thread] = []
        for host, listener in zip(hosts, self.listeners, strict=True):
            self._run(self._accept, host, listener)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def plan(self, after: int, phase: str, harm: Harm) -> Planned:
        """Do harm at the `after`-th request from now."""
        with self.lock:
            planned = Planned(len(self.log) + after, phase, harm)
            self.plans.append(planned)
            return planned

    def paths(self, host: str | None = None) -> list[str]:
        return [asked.path for asked in list(self.log) if host is None or asked.host == host]

    def __enter__(self) -> LoopbackSite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in [*self.listeners, *self.open]:
            shut(each)
        for thread in self.threads:
            thread.join(5)
        for listener in self.listeners:
            listener.close()

    def _run(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self, host: str, listener: socket.socket) -> None:
        while True:
            try:
                accepted, _ = listener.accept()
            except OSError:
                return
            self.open.add(accepted)
            self._run(self._talk, host, accepted)

    def _talk(self, host: str, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while head := read_head(connection):
                asked = self._note(host, head)
                self._serve(connection, asked)
                if asked.path in self.hangs_up:
                    return
        except OSError:
            pass  # the crawler was killed, or the site closes
        finally:
            self.open.discard(connection)
            connection.close()

    def _note(self, host: str, head: bytes) -> Asked:
        line, _, rest = head.decode("latin-1").partition("\r\n")
        headers = {name.lower(): value for name, value in Parser().parsestr(rest).items()}
        with self.lock:
            asked = Asked(len(self.log) + 1, host, line.split(" ")[1], headers, monotonic())
            self.log.append(asked)
        return asked

    def _serve(self, connection: socket.socket, asked: Asked) -> None:
        asked.ended = asked.began  # should the crawler be killed before there is an answer
        self._harm(asked, CAME)
        answer = self.answers(asked).encoded()
        half = len(answer) // 2
        connection.sendall(answer[:half])
        self._harm(asked, HALF)
        asked.ended = monotonic()
        connection.sendall(answer[half:])
        self._harm(asked, SENT)

    def _harm(self, asked: Asked, phase: str) -> None:
        for planned in self.plans:
            if planned.number == asked.number and planned.phase == phase:
                planned.harm()
                planned.happened.set()


def gaps(log: list[Asked]) -> list[tuple[float, Asked]]:
    """Seconds between the end of an answer and the beginning of the next request of the same host."""
    last: dict[str, Asked] = {}
    found = []
    for asked in log:
        if asked.host in last:
            found.append((asked.began - last[asked.host].ended, asked))
        last[asked.host] = asked
    return found


class Web:
    """Pages over three hosts that link to each other, with what a crawl has to cope with among them.

    Every page is reached from page 0. Some links lead to URLs that robots.txt forbids, that do not exist, or that
    redirect to a page.
    """

    HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
    SLOW_HOST = "127.0.0.3"

    def __init__(self, pages: int, *, slow_pages: int = 0, crawl_delay_seconds: float = 0.0) -> None:
        self.pages = pages
        self.slow_pages = slow_pages  # so many of them are on the host that asks for a longer delay
        self.crawl_delay_seconds = crawl_delay_seconds
        self.port = 0

    def host_of(self, page: int) -> str:
        if self.slow_pages and page and page % (self.pages // self.slow_pages) == 0:
            return self.SLOW_HOST
        return self.HOSTS[page % 2]

    def url_of(self, page: int) -> str:
        return f"http://{self.host_of(page)}:{self.port}/page/{page}"

    @property
    def domains(self) -> list[str]:
        return [f"{host}:{self.port}" for host in self.HOSTS]

    @property
    def page_urls(self) -> set[str]:
        return {self.url_of(page) for page in range(self.pages)}

    @property
    def odd(self) -> list[int]:
        """Pages that link to a forbidden, a missing and a redirecting URL as well."""
        return list(range(5, self.pages, 25))

    def odd_urls(self, word: str) -> set[str]:
        return {f"http://{self.host_of(page)}:{self.port}/{word}/{page}" for page in self.odd}

    def answers(self, asked: Asked) -> Reply:
        _, word, *rest = asked.path.split("/")
        if word == "robots.txt":
            return Reply(self._robots(asked.host), headers={"Content-Type": "text/plain"})
        if word == "page" and rest:
            return Reply(self._page(int(rest[0])))
        if word == "moved":
            return Reply(status=301, headers={"Location": self.url_of(int(rest[0]))})
        return Reply("not here", 404)

    def _robots(self, host: str) -> str:
        delay = f"Crawl-delay: {self.crawl_delay_seconds}\n" if host == self.SLOW_HOST else ""
        return f"User-agent: *\n{delay}Disallow: /private/\n"

    def _page(self, page: int) -> str:
        chance = random.Random(page)
        words = " ".join(chance.choice(WORDS) + str(chance.randrange(1000)) for _ in range(60))
        onwards = [n for n in (3 * page + 1, 3 * page + 2, 3 * page + 3) if n < self.pages]
        targets = [self.url_of(n) for n in (*onwards, *chance.sample(range(self.pages), 5))]
        if page in self.odd:
            host = f"http://{self.host_of(page)}:{self.port}"
            targets += [f"{host}/{word}/{page}" for word in ("private", "missing", "moved")]
        links = "".join(f'<a href="{target}">to {target}</a>' for target in targets)
        return f"<html><head><title>Page {page}</title></head><body><p>{words}</p>{links}</body></html>"


WORDS = ("heron", "alder", "quartz", "lantern", "meadow", "cobalt", "ferry", "saddle", "thimble", "walnut")
