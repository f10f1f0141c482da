"""Decoding bodies: which source of the encoding wins, what each encoding means on the web, and bad input."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.web import charset
from crawler.web.charset import Decoded, decode, decode_as, detect, encoding_from_label, encoding_of, prescan
from crawler.web.encoding_labels import ENCODINGS

HTML = "text/html"
RUSSIAN = "Съешь ещё этих мягких французских булок, да выпей чаю. "
HUNGARIAN = "Árvíztűrő tükörfúrógép és még néhány őrült szó a szövegből. "
JAPANESE = "いろはにほへと、色は匂へど散りぬるを。吾輩は猫である。名前はまだ無い。"


def test_a_byte_order_mark_beats_the_header() -> None:
    assert decode(b"\xef\xbb\xbf\xc3\xa9", f"{HTML};charset=windows-1252") == Decoded("é", "utf-8")
    assert decode(b"\xff\xfeh\0i\0", f"{HTML};charset=utf-8") == Decoded("hi", "utf-16le")
    assert decode(b"\xfe\xff\0h\0i") == Decoded("hi", "utf-16be")
    assert decode(b"\xff\xfe\0\0h\0\0\0") == Decoded("h", "utf-32le")


def test_the_header_beats_the_page() -> None:
    page = b'<meta charset="koi8-r">\xe9'
    assert decode(page, f"{HTML}; charset=iso-8859-1") == Decoded('<meta charset="koi8-r">é', "windows-1252")
    assert decode(page, f"{HTML}; charset=nonsense").encoding == "koi8-r"
    assert decode(page, "nonsense").encoding == "koi8-r"
    assert decode(page, f"Content-Type: {HTML}; charset=big5").encoding == "big5"


def test_a_repeated_header_is_read_as_fetch_does() -> None:
    assert encoding_of(b"", "text/html;charset=gbk, text/html") == "gbk"
    assert encoding_of(b"", "text/plain;charset=gbk, text/html") == "windows-1252"


def test_a_meta_tag_further_down_still_counts() -> None:
    far_down = b"<!--" + b"x" * 5000 + b"-->" + b"<meta charset=iso-8859-2>"
    assert prescan(far_down[:1024]) is None
    assert decode(far_down).encoding == "iso-8859-2"
    assert decode(b"<!--" + b"x" * 70_000 + b"--><meta charset=iso-8859-2>").encoding == "windows-1252"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"<META CharSet = 'Latin1' />", "windows-1252"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=bogus><meta charset=gbk>", "gbk"),
        (b"<meta http-equiv=content-type content='text/html; charset=\"gbk\"'>", "gbk"),
        (b"<meta content='charset charset=gbk' http-equiv=Content-Type>", "gbk"),
        (b"<meta content='charset=gbk'>", None),
        (b"<meta charset=bogus content='charset=gbk' http-equiv=content-type>", None),
        (b"<!-- <meta charset=gbk> -->", None),
        (b"<!--><meta charset=gbk>", "gbk"),
        (b"<a title='<meta charset=gbk>'>", None),
        (b"<a title='x><meta charset=gbk>", None),
        (b"</a b='>'><meta charset=gbk>", "gbk"),
        (b"<!x '><meta charset=gbk>", "gbk"),
        (b"<metax charset=gbk>", None),
        (b"<meta/charset=gbk>", "gbk"),
        (b"<meta =charset charset=gbk>", "gbk"),
        (b"<meta charset=gbk", None),
        (b"<?xml version='1.0' encoding='gbk'?>", "gbk"),
        (b"<?xml encoding='gbk'?><meta charset=big5>", "big5"),
        (b"<?xml encoding=' gbk'?>", None),
        (b" <?xml encoding='gbk'?>", None),
        ("<?xml".encode("utf-16-le"), "utf-16le"),
        ("<?xml".encode("utf-16-be"), "utf-16be"),
        (b"", None),
    ],
)
def test_prescan(head: bytes, expected: str | None) -> None:
    assert prescan(head) == expected


@pytest.mark.parametrize(
    ("body", "encoding", "text"),
    [
        (b"\x80\x81\x9f", "windows-1252", "€\x81Ÿ"),
        (b"\xca\xd9", "windows-1255", "\u05ba\ufffd"),
        (b"\xae\xbe", "koi8-u", "ўЎ"),
        (b"\x80\xff", "x-user-defined", "\uf780\uf7ff"),
        (b"anything", "replacement", "\ufffd"),
        (b"", "replacement", ""),
        (b"\x80\xd6\xd0\xff!", "gbk", "€中\ufffd!"),
        (b"\x81\x30\x81\x30", "gb18030", "\x80"),
        (b"\xad\xa1\xfc\xa1", "euc-jp", "①釗"),
        (b"\xa1\xc1\xa1\xdd", "euc-jp", "～－"),
        (b"\xad\xff<b>\xfe", "euc-jp", "\ufffd\ufffd<b>\ufffd"),
        (b"\x87\x40\x5c\x7e", "shift_jis", "①\\~"),
        (b"\x81\x41", "euc-kr", "갂"),
        (b"\x1b$B$\"\x1b(B", "iso-2022-jp", "あ"),
        (b"\xe3\x81<b>", "utf-8", "\ufffd<b>"),
        (b"h\0i", "utf-16le", "h\ufffd"),
    ],
)  # fmt: skip
def test_encodings_mean_what_they_mean_on_the_web(body: bytes, encoding: str, text: str) -> None:
    assert decode_as(body, encoding) == text


def test_labels() -> None:
    assert encoding_from_label(" UTF8\n") == "utf-8"
    assert encoding_from_label("iso-8859-1") == "windows-1252"
    assert encoding_from_label("gb2312") == "gbk"
    assert encoding_from_label("hz-gb-2312") == "replacement"
    assert encoding_from_label("utf-32") is encoding_from_label("utf-7") is encoding_from_label("") is None
    assert encoding_from_label("\u212aoi8-r") is None  # the Kelvin sign is no k
    assert len(ENCODINGS) == 40


@pytest.mark.parametrize("encoding", sorted(ENCODINGS))
def test_every_encoding_decodes_every_byte(encoding: str) -> None:
    assert isinstance(decode_as(bytes(range(256)) * 2, encoding), str)
    codec = charset.python_codec(encoding)
    assert codec is None or isinstance(b"a".decode(codec, "replace"), str)


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        (RUSSIAN * 3, "cp1251", "windows-1251"),
        (RUSSIAN * 3, "koi8-r", "koi8-u"),
        (RUSSIAN, "utf-8", "utf-8"),
        (JAPANESE, "cp932", "shift_jis"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        ("Déjà vu à la carte, très élégant", "cp1252", "windows-1252"),
        ("Only ASCII", "ascii", "windows-1252"),
        ("<p>Wide", "utf-16-le", "utf-16le"),
        ("<p>Wide", "utf-16-be", "utf-16be"),
    ],
)
def test_detection(text: str, codec: str, encoding: str) -> None:
    body = text.encode(codec)
    assert detect(body) == encoding
    assert decode(body).text == text


def test_the_country_or_the_language_of_a_page_helps_detection() -> None:
    body = (HUNGARIAN * 2).encode("cp1250")
    assert detect(body, "hu") in ("windows-1250", "iso-8859-2")
    assert detect(b"<html lang='hu'>" + body) in ("windows-1250", "iso-8859-2")
    assert isinstance(detect(body, "Not.A.Label"), str)


def test_utf8_with_a_stray_byte_is_utf8() -> None:
    assert decode((RUSSIAN * 2).encode() + b"\xe9 ok").encoding == "utf-8"
    assert decode(RUSSIAN.encode()[:-1]).encoding == "utf-8"
    assert decode(b"x" * 20_000 + RUSSIAN.encode()).encoding == "utf-8"
    assert decode(b"caf\xe9").encoding == "windows-1252"


def test_a_huge_body_takes_the_time_of_decoding_it() -> None:
    start = time.perf_counter()
    for body in (b"<" * 30_000_000, b"\xff" * 30_000_000, b"<meta " * 5_000_000, b"\0" * 30_000_000):
        decode(body)
    assert time.perf_counter() - start < 5


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.none() | st.text(max_size=60))
def test_any_bytes_decode(body: bytes, content_type: str | None) -> None:
    decoded = decode(body, content_type)
    assert decoded.encoding in ENCODINGS | {"utf-32le", "utf-32be"}
    assert len(decoded.text) <= len(body)
    assert encoding_of(body, content_type) == decoded.encoding
    decoded.text.encode()  # no lone surrogates


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([b"<meta ", b"charset", b"=", b"utf-8", b'"', b"'", b">", b"<!--", b"-->", b" ", b"/", b"<a"])
    ).map(b"".join)
)
def test_a_prescan_never_reads_past_its_bytes(head: bytes) -> None:
    found = prescan(head)
    assert found is None or found in ENCODINGS
    # More bytes never take back what was found.
    assert found is None or prescan(head + b"<p>") == found


@settings(max_examples=100, deadline=None)
@given(st.text(min_size=1, max_size=200))
def test_utf8_comes_back(text: str) -> None:
    assert decode(text.encode(), f"{HTML}; charset=utf-8").text == text.removeprefix("\ufeff")
