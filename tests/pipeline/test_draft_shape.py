import pytest

from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError


@pytest.mark.parametrize(("steps", "topk", "draft_tokens"), [(3, 1, 4), (1, 1, 2), (3, 4, 16), (5, 1, 4)])
def test_possible_shapes_are_written_as_sglang_names_them(steps: int, topk: int, draft_tokens: int) -> None:
    assert str(DraftShape(steps=steps, topk=topk, draft_tokens=draft_tokens)) == f"{steps}/{topk}/{draft_tokens}"


@pytest.mark.parametrize(
    ("steps", "topk", "draft_tokens", "reason"),
    [
        (-1, 1, 4, "steps and topk are at least 1"),
        (3, 0, 4, "steps and topk are at least 1"),
        (3, 1, 1, "draft tokens at least 2"),
        (999, 999, 9999, "at most 64 steps and topk"),
    ],
)
def test_impossible_shapes_are_refused(steps: int, topk: int, draft_tokens: int, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        DraftShape(steps=steps, topk=topk, draft_tokens=draft_tokens)


@pytest.mark.parametrize(
    ("text", "written"), [("3/1/4", "3/1/4"), ("3", "3/1/4"), ("4/4/12", "4/4/12"), ("3/1/4/0.30", "3/1/4/0.3")]
)
def test_written_shapes_are_read_back(text: str, written: str) -> None:
    shape = DraftShape.parse(text)
    assert str(shape) == written
    assert DraftShape.parse(str(shape)) == shape


@pytest.mark.parametrize("text", ["", "3/1", "3/1/4/", "3/1/4/x", "3/1/4/0.3/1", "-3/1/4", "3/1/4 ", "٣/1/4", "9" * 5000])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not STEPS/TOPK/TOKENS"):
        DraftShape.parse(text)


@pytest.mark.parametrize(("text", "reason"), [("3/1/4/1", "below 1"), ("3/4/16/0.5", "for chains")])
def test_confidence_that_makes_no_sense_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        DraftShape.parse(text)
