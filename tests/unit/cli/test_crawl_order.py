"""What can be asked of `crawler crawl`, and what is said to what cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from crawler.cli import app
from crawler.cli.crawling.order import Order, read_seeds, with_seed_domains
from crawler.cli.crawling.place import lock

runner = CliRunner()
SEED = "https://example.com/"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "no URL to start from"),
        (("example.com/docs",), "did you mean https://example.com/docs ?"),
        (("ftp://example.com/",), "not an http or https URL"),
        ((SEED, "--allow", "[a"), "--allow '[a' is not a regular expression"),
        ((SEED, "--deny", "(?=x)"), "--deny '(?=x)' is not a regular expression"),
        ((SEED, "--allow-domain", "a b"), "--allow-domain 'a b' is not a domain name"),
        ((SEED, "--seeds", "/nowhere"), "--seeds: cannot read /nowhere"),
        ((SEED, "--user-agent", "\n"), "--user-agent: "),
    ],
)
def test_what_cannot_be_crawled_is_said_in_one_line(words: tuple[str, ...], complaint: str) -> None:
    result = runner.invoke(app, ["crawl", *words, "--out", "/nowhere/at/all"])
    assert result.exit_code == 2
    assert complaint in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_a_folder_that_cannot_be_made_has_its_own_exit_code(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "inside"):
        result = runner.invoke(app, ["crawl", SEED, "--out", str(out)])
        assert result.exit_code == 4
        assert f"cannot write to {out}" in result.output


def test_seeds_come_from_the_command_line_and_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text(f"# mine\n\n  {SEED}a  \n{SEED}b\n")
    assert read_seeds([f"{SEED}b", SEED], str(file)) == (f"{SEED}b", SEED, f"{SEED}a")
    file.write_text(f"{SEED}\nnonsense\n")
    result = runner.invoke(app, ["crawl", "--seeds", str(file)])
    assert f"{file}, line 2: " in result.output


def test_the_same_pages_are_the_same_crawl_whatever_the_speed() -> None:
    order = Order((SEED, "https://example.org/"), allow=("x", "y"), max_pages=5)
    for same in (
        Order(("https://example.org/", SEED), allow=("y", "x")),
        Order(order.seeds, allow=order.allow, max_pages=9, delay_seconds=0, per_host=4, timeout_seconds=3),
    ):
        assert same.identity == order.identity
    for other in (
        Order((SEED,), allow=order.allow),
        Order(order.seeds, allow=("x",)),
        Order(order.seeds, allow=order.allow, deny=("z",)),
        Order(order.seeds, allow=order.allow, max_depth=2),
        Order(order.seeds, allow=order.allow, robots=False),
        Order(order.seeds, allow=order.allow, outlinks=False),
    ):
        assert other.identity != order.identity


def test_names_are_readable_unique_and_fit() -> None:
    assert Order((SEED, f"{SEED}b")).name.startswith(f"{SEED} and 1 more #")
    long = Order((SEED + "x" * 5000,)).name
    assert len(long) <= 255
    assert long != Order((SEED + "x" * 5001,)).name


def test_what_was_not_asked_for_is_left_to_the_platform() -> None:
    assert Order((SEED,)).config() == {
        "respect_robots_txt": True,
        "store_outlinks": True,
        "use_sitemaps": False,
        "render": False,
    }
    assert Order((SEED,), delay_seconds=0).config()["crawl_delay_ms"] == 0


def test_other_domains_are_allowed_beside_the_seeds_own() -> None:
    assert with_seed_domains([SEED], ["example.org"]) == ("example.com", "example.org")
    assert with_seed_domains([SEED], []) == ()


def test_a_lock_keeps_its_mark(tmp_path: Path) -> None:
    import os

    first = lock(tmp_path / "a.lock", "it is in use")
    os.close(first.file)
    second = lock(tmp_path / "a.lock", "it is in use")
    assert second.mark == first.mark
    os.close(second.file)
    other = lock(tmp_path / "b.lock", "it is in use")
    assert other.mark != first.mark
    os.close(other.file)


def test_a_lock_is_not_given_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import os

    held = lock(tmp_path / "a.lock", "it is in use")
    with pytest.raises(SystemExit) as leaving:
        lock(tmp_path / "a.lock", "it is in use")
    assert leaving.value.code == 1
    assert f"it is in use by process {os.getpid()}" in capsys.readouterr().err
    os.close(held.file)
