"""Fingerprints: stable, near for alike texts, far for others."""

import random
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.web.simhash import LONGEST_TEXT, NEAR_DISTANCE, distance, find_all, fingerprint, html_digest, of_hashes

SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu ra re ri ro ru".split()
COMMON = ["the", "of", "and", "to", "a", "in", "is", "that", "for", "it"]


def made_up_text(seed: int, length: int = 800) -> list[str]:
    """Words of an invented language, a third of them from the few that every text has."""
    rng = random.Random(seed)
    own = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(400)]
    return [rng.choice(COMMON) if rng.random() < 0.35 else rng.choice(own) for _ in range(length)]


def edited(words: list[str], edits: int, rng: random.Random) -> list[str]:
    words = list(words)
    for _ in range(edits):
        at = rng.randrange(len(words))
        kind = rng.choice(("replace", "delete", "insert"))
        if kind == "replace":
            words[at] = "changed"
        elif kind == "delete":
            del words[at]
        else:
            words.insert(at, "added")
    return words


# Stored fingerprints must stay comparable: these values may never change.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("?! ...", 0),
        ("word", 0x33F2E8F7D4AD659D),
        ("The quick brown fox jumps over the lazy dog", 0xB7A13203A4EF57FE),
        ("Größe, façade – naïve “quotes”", 0x2AB82CE9BBA70238),
        ("吾輩は猫である。名前はまだ無い。", 0x94DD3E5E250E0A42),
        ("สวัสดีชาวโลก Привет мир", 0x88B9DFD3134FB36B),
    ],
)
def test_fingerprints_never_change(text: str, expected: int) -> None:
    assert fingerprint(text) == expected


def test_another_process_gives_the_same() -> None:
    command = "from crawler.web.simhash import fingerprint; print(fingerprint('one two three four'))"
    run = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert int(run.stdout) == fingerprint("one two three four")


@pytest.mark.parametrize(
    "alike",
    [
        "the quick brown fox",
        "THE QUICK BROWN FOX!",
        " the\tquick\n\n\nbrown \xa0 fox ",
        "“The quick — brown … fox”",
        "the-quick/brown(fox)",
    ],
)
def test_case_and_punctuation_do_not_count(alike: str) -> None:
    assert fingerprint(alike) == fingerprint("The quick, brown fox.")


def test_small_edits_are_near_and_other_texts_far() -> None:
    texts = [made_up_text(seed) for seed in range(40)]
    prints = [fingerprint(" ".join(words)) for words in texts]
    # In 800 words of which hardly a pair occurs twice, which is harder than a real page.
    for edits, at_least in ((1, 36), (4, 28)):
        rng = random.Random(7)
        apart = [distance(p, fingerprint(" ".join(edited(w, edits, rng)))) for p, w in zip(prints, texts, strict=True)]
        assert sum(bits <= NEAR_DISTANCE for bits in apart) >= at_least
        assert max(apart) <= 8
    others = [distance(one, other) for at, one in enumerate(prints) for other in prints[at + 1 :]]
    assert sum(bits > 20 for bits in others) >= len(others) * 0.97
    assert 27 <= sum(others) / len(others) <= 35


def test_unspaced_scripts_are_compared_by_character() -> None:
    text = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。" * 4
    changed = text.replace("猫", "犬", 1)
    assert 0 <= distance(fingerprint(text), fingerprint(changed)) <= 8
    assert distance(fingerprint(text), fingerprint("国境の長いトンネルを抜けると雪国であった。" * 6)) > 15


def test_bits_are_balanced() -> None:
    prints = [fingerprint(" ".join(f"w{seed}x{number}" for number in range(60))) for seed in range(200)]
    for bit in range(64):
        assert 60 <= sum(value >> bit & 1 for value in prints) <= 140


def test_of_hashes_takes_the_majority() -> None:
    assert of_hashes([]) == 0
    assert of_hashes([5]) == 5
    assert of_hashes([0b110, 0b011, 0b010]) == 0b010
    assert of_hashes([1, 2]) == 0  # ties are 0
    assert of_hashes([2**64 - 1] * 3 + [0] * 2) == 2**64 - 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), max_size=70))
def test_of_hashes_counts_right(hashes: list[int]) -> None:
    expected = sum(1 << bit for bit in range(64) if sum(value >> bit & 1 for value in hashes) * 2 > len(hashes))
    assert of_hashes(hashes) == expected


def test_distance() -> None:
    assert distance(0, 2**64 - 1) == 64
    assert distance(0b1010, 0b1001) == 2


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 2**12).map(lambda value: value * 0x0010_0200_4008_0101 % 2**64)), st.integers(0, 20))
def test_find_all_is_brute_force_but_faster(values: list[int], limit: int) -> None:
    ordered = sorted(set(values))
    expected = [(a, b) for at, a in enumerate(ordered) for b in ordered[at + 1 :] if distance(a, b) <= limit]
    assert find_all(values, limit) == expected


def test_find_all_in_many() -> None:
    rng = random.Random(3)
    values = [rng.getrandbits(64) for _ in range(20_000)]
    start = time.perf_counter()
    assert find_all([*values, values[0] ^ 0b111, values[1] ^ (1 << 63)]) == sorted(
        tuple(sorted(pair)) for pair in ((values[0], values[0] ^ 0b111), (values[1], values[1] ^ (1 << 63)))
    )
    assert time.perf_counter() - start < 3


def test_long_texts_are_cut_and_bounded() -> None:
    start = time.perf_counter()
    text = "word " * 20_000_000
    assert fingerprint(text) == fingerprint(text[:LONGEST_TEXT])
    for piece in ("<a b='", "<!--", "<!", "<script", "<script>", "</script", "<a '\">", '<iframe src="', "<"):
        html_digest(piece * 2_000_000)
    assert time.perf_counter() - start < 5


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text(alphabet="ab <>!-/\"'\x00\ud800猫"))
def test_any_text_has_a_fingerprint(text: str) -> None:
    assert 0 <= fingerprint(text) < 2**64
    assert len(html_digest(text)) == 32


def test_html_digest_ignores_what_no_reader_sees() -> None:
    page = "<p class=a>Hello <b>you</b></p><script>1</script>"
    assert html_digest(page) == html_digest("<P id='x>y'>Hello\n\n<b>you</b></p><script>2</script>")
    assert html_digest(page) != html_digest("<p>Hello <i>you</i></p><script>1</script>")
    assert html_digest("visitor 17 of 2019") == html_digest("visitor 18 of 2020")
    assert html_digest("<iframe src='a'>") != html_digest("<iframe src='b'>")
