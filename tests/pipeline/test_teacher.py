import pytest
import torch

from pipeline.batching import build_batch
from pipeline.errors import ConfigError
from pipeline.lean_ops import rms_norm
from pipeline.teacher import FinalNorm, Teacher
from tests.support.tiny_drafter import document, tiny, vocabulary


def test_targets_keep_labels_whose_best_token_can_be_drafted() -> None:
    setup = tiny()
    batch = build_batch([document(30, (8, 30), seed=1)], steps=2)
    targets = setup.teacher.targets(batch)
    best = (batch.teacher_states @ setup.head.T).argmax(-1)
    kept = vocabulary().t2d[best]
    assert vocabulary().token_ids[targets.tokens].tolist() == best[kept].tolist()
    assert torch.equal(targets.label_rows, batch.label_rows[:, kept])
    assert targets.counted.tolist() == [int(kept.sum())] * 2
    assert targets.supervised.sum(1).tolist() == [22, 22]


def test_states_from_before_the_final_norm_are_normed() -> None:
    setup = tiny()
    weight = torch.rand(24, dtype=torch.float64) + 0.5
    batch = build_batch([document(30, (8, 30), seed=1)], steps=1)
    teacher = Teacher(setup.head, vocabulary(), norm=FinalNorm(weight=weight, eps=1e-6))
    best = (rms_norm(batch.teacher_states, weight, 1e-6) @ setup.head.T).argmax(-1)
    kept = vocabulary().t2d[best]
    assert vocabulary().token_ids[teacher.targets(batch).tokens].tolist() == best[kept].tolist()


def test_full_vocabulary_logits_never_exist_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = tiny()
    rows = []
    product = torch.Tensor.__matmul__

    def counting(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        if right.shape[-1] == 50:
            rows.append(len(left))
        return product(left, right)

    monkeypatch.setattr("pipeline.teacher.CHUNK_LOGITS", 50 * 4)
    monkeypatch.setattr(torch.Tensor, "__matmul__", counting)
    setup.teacher.targets(build_batch([document(30, (8, 30), seed=1)], steps=1))
    assert rows == [4, 4, 4, 4, 4, 2]


def test_head_of_another_vocabulary_is_refused() -> None:
    with pytest.raises(ConfigError, match="20 of 49 are needed"):
        Teacher(torch.zeros(49, 24), vocabulary())
