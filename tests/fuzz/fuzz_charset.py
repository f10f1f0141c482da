"""Fuzz decoding: ``python tests/fuzz/fuzz_charset.py -max_total_time=60`` (needs atheris)."""

import sys
from importlib import import_module

from crawler.web.charset import decode, detect, encoding_of, prescan
from crawler.web.charset.decoders import decode_as
from crawler.web.encoding_labels import ENCODINGS

KNOWN = ENCODINGS | {"utf-32le", "utf-32be"}
BY_NUMBER = sorted(KNOWN)


def one(data: bytes) -> None:
    """Any bytes under any header decode to storable text, no longer than they are, in a known encoding."""
    header, _, body = data.partition(b"\n")
    content_type = header.decode("latin-1")
    decoded = decode(body, content_type)
    assert decoded.encoding in KNOWN and decoded.encoding == encoding_of(body, content_type)
    assert len(decoded.text) <= len(body)
    decoded.text.encode()
    assert detect(body, content_type) in ENCODINGS
    found = prescan(body)
    assert found is None or (found in ENCODINGS and found != "x-user-defined")
    decode_as(body, BY_NUMBER[len(data) % len(BY_NUMBER)]).encode()


if __name__ == "__main__":
    atheris = import_module("atheris")  # has no types and is no dependency
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
