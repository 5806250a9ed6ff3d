"""The engine's flags for drafts."""

import argparse

import pytest

from pipeline.draft_shape import DraftShape
from pipeline.serving.embedded.cli import add_arguments, draft_shape


@pytest.mark.parametrize(
    ("flags", "shape"),
    [
        ([], DraftShape(steps=3, topk=1, draft_tokens=4)),
        (["--draft-steps", "5"], DraftShape(steps=5, topk=1, draft_tokens=6)),
        (["--draft-topk", "2"], DraftShape(steps=3, topk=2, draft_tokens=11)),
        (["--draft-topk", "4"], DraftShape(steps=3, topk=4, draft_tokens=16)),
        (["--draft-topk", "4", "--draft-tokens", "8"], DraftShape(steps=3, topk=4, draft_tokens=8)),
    ],
)
def test_a_verification_reads_what_the_shape_gives_unless_told(flags: list[str], shape: DraftShape) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert draft_shape(parser.parse_args(["--model", "m", *flags])) == shape
