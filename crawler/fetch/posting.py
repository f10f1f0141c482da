"""Requests with a body, for what we tell others. The same guard, names, limits and outcomes as every fetch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pycurl

from crawler.fetch.client import Fetcher
from crawler.fetch.origins import Origin
from crawler.fetch.outcome import Request
from crawler.fetch.transfer import Transfer

POST = "POST"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRequest(Request):
    body: bytes
    method: str = POST


class Poster(Fetcher):
    """A fetcher whose every request is a PostRequest."""

    def _new_transfer(self) -> Transfer:
        handle = pycurl.Curl()
        for option, value in self._options.items():
            handle.setopt(option, value)
        transfer = PostTransfer(handle, self.guard, self._multi.on_new_socket)
        self._transfers.append(transfer)
        return transfer


class PostTransfer(Transfer):
    def begin(self, request: Request, ticket: Any, origin: Origin, pins: list[str]) -> None:
        super().begin(request, ticket, origin, pins)
        if not isinstance(request, PostRequest):
            raise TypeError(f"not a PostRequest: {request.url}")
        self.handle.setopt(pycurl.POST, 1)
        self.handle.setopt(pycurl.POSTFIELDSIZE_LARGE, len(request.body))
        self.handle.setopt(pycurl.COPYPOSTFIELDS, request.body)
