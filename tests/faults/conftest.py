from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.platform import Platform


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    made = Platform(tmp_path)
    yield made
    made.close()
