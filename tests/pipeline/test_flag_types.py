import argparse

import pytest

from pipeline.draft_shape import DraftShape
from pipeline.flag_types import shape


def test_shape_is_read_as_it_is_written() -> None:
    assert shape("5") == DraftShape(steps=5, topk=1, draft_tokens=6)
    assert shape("4/2/7") == DraftShape(steps=4, topk=2, draft_tokens=7)


@pytest.mark.parametrize("text", ["", "a", "3/1", "3/1/4/"])
def test_what_is_no_shape_is_refused_as_an_argument(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not STEPS/TOPK/TOKENS"):
        shape(text)
