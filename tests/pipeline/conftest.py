from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[disks.SmallDisk]:
    with disks.small_disk(tmp_path / "small") as disk:
        yield disk
