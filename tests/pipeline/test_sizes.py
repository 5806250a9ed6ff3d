import pytest

from pipeline.sizes import size


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 kB"), (150_000, "150 kB"), (3_100_000, "3.1 MB"), (12_900_000_000, "12.9 GB"), (4_560_000_000_000, "4,560.0 GB")],
)
def test_bytes_read_as_people_write_them(count: int, words: str) -> None:
    assert size(count) == words
