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
