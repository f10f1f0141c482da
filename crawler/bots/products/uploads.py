"""A file that came with a request: as its body, or as a field of a form."""

from __future__ import annotations

from typing import NamedTuple

from django.http import HttpRequest

from crawler.bots.products.files import Form, Source, form_of_content_type
from crawler.foundation.errors import InvalidInput, TooLarge

MOST_BYTES = 256 * 1024 * 1024


class Upload(NamedTuple):
    source: Source
    name: str
    form: Form | None


class Body:
    """A request's body, read as it comes, up to a limit."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.left = MOST_BYTES

    def read(self, size: int = -1, /) -> bytes:
        part: bytes = self.request.read(size)
        self.left -= len(part)
        if self.left < 0:
            raise TooLarge(f"More than {MOST_BYTES // 2**20} MB; use crawler products import, or several files")
        return part


def upload_of(request: HttpRequest) -> Upload:
    """Raises InvalidInput when there is none."""
    content_type = request.headers.get("Content-Type", "")
    if content_type.startswith("multipart/form-data"):
        return _of_form(request)
    if not int(request.META.get("CONTENT_LENGTH") or 0):
        how = "send the file as the body with its Content-Length, as in curl --data-binary @urls.txt"
        raise InvalidInput(field="body", reason=f"The body is empty; {how}")
    return Upload(Body(request), "", form_of_content_type(content_type))


def _of_form(request: HttpRequest) -> Upload:
    file = next(iter(request.FILES.values()), None)
    if file is None:
        raise InvalidInput(field="file", reason="The form has no file")
    name = str(getattr(file, "name", "") or "")
    return Upload(file, name, None)  # type: ignore[arg-type]  # an uploaded file is read like any other
