"""Real sites to measure with: HTML documentation that Debian packages.

A corpus is looked for below the folder that CRAWLER_CORPORA names (unpacked packages: usr/share/doc/…), then on the
machine itself, then in a folder of the system's temporary one, into which `apt-get download` and `dpkg -x` put it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(tempfile.gettempdir()) / "crawlspace-bench"
MARK = b"\n<!-- the other copy -->\n"


@dataclass(frozen=True, slots=True)
class Corpus:
    """`name` is that of the list of its reachable pages."""

    name: str
    package: str
    root: str  # below the folder where the package is unpacked
    start: str = "/index.html"


OPENJDK = Corpus("openjdk17", "openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless/api")
OTHERS = (
    Corpus("postgresql", "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    Corpus("python311", "python3.11-doc", "usr/share/doc/python3.11/html"),
    Corpus("debian-handbook-en", "debian-handbook", "usr/share/doc/debian-handbook/html/en-US"),
)


def folder_of(corpus: Corpus) -> Path:
    """Where its pages are, downloaded first when they are nowhere."""
    cached = CACHE / corpus.package
    named = os.environ.get("CRAWLER_CORPORA")
    for place in ([Path(named)] if named else []) + [Path("/"), cached]:
        if (place / corpus.root / corpus.start.lstrip("/")).is_file():
            return place / corpus.root
    _download(corpus.package, cached)
    return cached / corpus.root


def _download(package: str, folder: Path) -> None:
    print(f"downloading {package} into {folder} …", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)
        (file,) = folder.glob(f"{package}_*.deb")
        subprocess.run(["dpkg", "-x", file.name, "."], cwd=folder, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError, ValueError) as problem:
        sys.exit(
            f"cannot download Debian's {package} ({problem}); unpack it (dpkg -x) into a folder and set CRAWLER_CORPORA"
        )


def marked_copy(corpus: Corpus) -> Path:
    """The same site with other bytes on every page, so that no page is a duplicate of the original's."""
    original, copy = folder_of(corpus), CACHE / f"{corpus.package}-copy"
    if not (copy / "complete").is_file():
        shutil.rmtree(copy, ignore_errors=True)
        for file in original.rglob("*.html"):
            target = copy / file.relative_to(original)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes() + MARK)
        (copy / "complete").touch()
    return copy


def vectors() -> Path | None:
    """The folder with the lists of reachable pages, or None."""
    named = os.environ.get("CRAWLER_VECTORS")
    path = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "vectors"
    return path if path.is_dir() else None


def paths_in_list(corpus: Corpus, kind: str) -> set[str] | None:
    """The `reachable` or `broken` paths of a corpus; None where this machine has no such list."""
    folder = vectors()
    file = folder / f"corpus_{corpus.name}_{kind}.txt" if folder else None
    if file is None or not file.is_file():
        return None
    return set(filter(None, file.read_text(encoding="utf-8").splitlines()))
