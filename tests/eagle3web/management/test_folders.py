"""A folder on the command line has a name."""

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from eagle3web.management.folders import folder


def test_name_is_taken() -> None:
    assert folder("backup/x") == Path("backup/x")


@pytest.mark.parametrize("text", ["", " "])
def test_nothing_is_no_folder(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="name a folder"):
        folder(text)
