import pytest

from pipeline.amounts import duration, size


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 kB"), (150_000, "150 kB"), (3_100_000, "3.1 MB"), (12_900_000_000, "12.9 GB"), (4_560_000_000_000, "4,560.0 GB")],
)
def test_bytes_read_as_people_write_them(count: int, words: str) -> None:
    assert size(count) == words


@pytest.mark.parametrize(("seconds", "words"), [(None, "?"), (0.4, "0s"), (59, "59s"), (90, "1.5min"), (27_360, "7.6h")])
def test_seconds_read_as_people_write_them(seconds: float | None, words: str) -> None:
    assert duration(seconds) == words
