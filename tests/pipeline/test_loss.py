"""Step losses and gradients against a float64 reference that was written from the definition."""

from dataclasses import replace

import pytest
import torch

from pipeline.batching import Document, build_batch
from pipeline.drafter_config import DrafterConfig
from pipeline.errors import DataError
from pipeline.loss import StepLosses, TrainingTimeTest, chunked_loss
from pipeline.objectives import Kind, Objective
from pipeline.teacher import Teacher
from tests.support import drafter_reference as reference
from tests.support.tiny_drafter import CONFIG, Tiny, document, tiny

STEPS = 7
DOCUMENTS = [
    document(23, (9, 23), seed=1),
    document(6, (2, 6), seed=2),
    document(31, (12, 20), seed=3),
]


def two_turns() -> Document:
    made = document(40, (8, 15), seed=4)
    made.loss_mask[25:37] = True
    return made


def referred(
    setup: Tiny, documents: list[Document], *, kind: Kind = "cross_entropy"
) -> tuple[reference.Reference, dict[str, torch.Tensor]]:
    weights = {name: value.detach().double().requires_grad_() for name, value in setup.drafter.named_parameters()}
    config = setup.config
    sizes = reference.Sizes(
        config.hidden_size, config.num_attention_heads, config.num_key_value_heads, config.head_dim, config.rope.theta, 1e-5
    )
    result = reference.training_time_test(
        weights,
        setup.drafter.embedding.double(),
        setup.head.double(),
        setup.drafter.vocabulary.token_ids,
        sizes,
        [(d.token_ids, d.loss_mask, d.features.double(), d.last_hidden.double()) for d in documents],
        steps=STEPS,
        kind=kind,
    )
    torch.autograd.backward(result.loss)
    return result, {name: weight.grad for name, weight in weights.items() if weight.grad is not None}


def trained(setup: Tiny, documents: list[Document], *, kind: Kind = "cross_entropy") -> StepLosses:
    batch = build_batch(documents, steps=STEPS)
    test = TrainingTimeTest(setup.drafter, setup.teacher, objective=Objective(kind))
    result = test(batch, setup.teacher.targets(batch))
    torch.autograd.backward(result.loss)
    assert isinstance(result, StepLosses)
    return result


def assert_equal_to_reference(
    setup: Tiny, documents: list[Document], *, kind: Kind = "cross_entropy", rtol: float = 1e-9
) -> None:
    expected, gradients = referred(setup, documents, kind=kind)
    result = trained(setup, documents, kind=kind)
    assert result.counted.tolist() == expected.counted
    torch.testing.assert_close(
        result.sums / result.counted, torch.tensor(expected.step_losses, dtype=result.sums.dtype), rtol=rtol, atol=0
    )
    assert (result.correct.sum(1) / result.supervised.sum(1)).tolist() == pytest.approx(expected.accuracy)
    found = {name: weight.grad for name, weight in setup.drafter.named_parameters()}
    assert found.keys() == gradients.keys()
    for name, gradient in gradients.items():
        scale = float(gradient.norm())
        difference = found[name]
        assert difference is not None
        assert float((difference.double() - gradient).norm()) <= rtol * scale, name


@pytest.mark.parametrize("documents", [DOCUMENTS[:1], DOCUMENTS, [two_turns()]], ids=["one", "packed", "two_turns"])
def test_losses_and_gradients_equal_the_reference(documents: list[Document]) -> None:
    assert_equal_to_reference(tiny(), documents)


@pytest.mark.parametrize("heads", [(6, 6), (6, 1), (4, 2)])
def test_losses_and_gradients_equal_the_reference_for_head_groups(heads: tuple[int, int]) -> None:
    config = replace(CONFIG, num_attention_heads=heads[0], num_key_value_heads=heads[1])
    assert_equal_to_reference(tiny(config), DOCUMENTS)


@pytest.mark.parametrize("kind", ["cross_entropy", "kl", "lk", "lk_kl"])
def test_every_objective_equals_the_reference(kind: Kind) -> None:
    assert_equal_to_reference(tiny(), DOCUMENTS, kind=kind)


def test_float32_stays_within_1e_5_of_the_reference() -> None:
    assert_equal_to_reference(tiny(dtype=torch.float32), DOCUMENTS, rtol=1e-5)


def test_bfloat16_stays_within_one_percent_of_the_reference() -> None:
    setup = tiny(dtype=torch.float32)
    expected, _ = referred(setup, DOCUMENTS)
    with torch.autocast("cpu", torch.bfloat16):
        result = trained(setup, DOCUMENTS)
    assert (result.sums / result.counted).tolist() == pytest.approx(expected.step_losses, rel=0.01)


def test_losses_are_summed_in_float32_under_autocast() -> None:
    setup = tiny(dtype=torch.float32)
    batch = build_batch(DOCUMENTS, steps=1)
    with torch.autocast("cpu", torch.bfloat16):
        hidden, targets = setup.drafter(batch), setup.teacher.targets(batch)
        result = chunked_loss(hidden, setup.drafter.lm_head.weight, targets, setup.teacher, Objective(), torch.ones(1))
    assert hidden.dtype == torch.bfloat16
    assert targets.states.dtype == torch.float64
    rows = hidden[0, targets.label_rows[0]]
    log_q = (rows @ setup.drafter.lm_head.weight.bfloat16().T).float().log_softmax(-1)
    p = setup.teacher.draft_logits(targets.states).float().softmax(-1)
    torch.testing.assert_close(result.sums[0].item(), float(-(p * log_q).sum().detach()), rtol=1e-6, atol=0)


def test_packed_documents_give_the_sums_of_single_ones() -> None:
    packed = trained(tiny(), DOCUMENTS)
    single = [trained(tiny(), [one]) for one in DOCUMENTS]
    torch.testing.assert_close(packed.sums, torch.stack([one.sums for one in single]).sum(0), rtol=1e-12, atol=0)
    assert packed.counted.tolist() == torch.stack([one.counted for one in single]).sum(0).tolist()


def test_normalisers_make_accumulated_batches_equal_one_batch() -> None:
    whole, parts = tiny(), tiny()
    trained(whole, DOCUMENTS)
    batches = [build_batch([one], steps=STEPS) for one in DOCUMENTS]
    targets = [parts.teacher.targets(batch) for batch in batches]
    counted = torch.stack([target.counted for target in targets]).sum(0)
    test = TrainingTimeTest(parts.drafter, parts.teacher)
    for batch, target in zip(batches, targets, strict=True):
        torch.autograd.backward(test(batch, target, counted).loss)
    for ours, theirs in zip(whole.drafter.parameters(), parts.drafter.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-10, atol=1e-12)


def test_chunks_of_any_size_give_the_same_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trained(tiny(), DOCUMENTS)
    monkeypatch.setattr("pipeline.loss.CHUNK_LOGITS", STEPS * CONFIG.draft_vocab_size * 7)
    monkeypatch.setattr("pipeline.loss.CACHE_LOGITS", STEPS * CONFIG.draft_vocab_size * 3)
    monkeypatch.setattr("pipeline.teacher.CHUNK_LOGITS", 60)
    chunked = trained(tiny(), DOCUMENTS)
    torch.testing.assert_close(chunked.sums, whole.sums, rtol=1e-12, atol=0)
    assert torch.equal(chunked.correct, whole.correct)


def test_stored_argmax_replaces_the_full_head() -> None:
    setup = tiny()
    stored = [replace(d, argmax=(d.last_hidden @ setup.head.T).argmax(-1)) for d in DOCUMENTS]
    assert torch.equal(trained(setup, stored).sums, trained(setup, DOCUMENTS).sums)


def test_evaluation_without_gradients_gives_the_same_loss() -> None:
    setup = tiny()
    batch = build_batch(DOCUMENTS, steps=STEPS)
    with torch.no_grad():
        result = TrainingTimeTest(setup.drafter, setup.teacher)(batch, setup.teacher.targets(batch))
    assert not result.loss.requires_grad
    assert torch.equal(result.sums, trained(setup, DOCUMENTS).sums)


def test_rows_whose_best_token_is_outside_are_dropped_and_count_as_misses() -> None:
    setup = tiny()
    result = trained(setup, DOCUMENTS)
    assert (result.counted < result.supervised.sum(1)).all()
    assert not bool((result.correct & ~result.supervised).any())


def test_batch_without_a_counted_row_is_refused() -> None:
    setup = tiny()
    outside = int((~setup.drafter.t2d).nonzero()[0])
    batch = build_batch([replace(DOCUMENTS[0], argmax=torch.full((23,), outside))], steps=STEPS)
    with pytest.raises(DataError, match="outside the draft vocabulary"):
        TrainingTimeTest(setup.drafter, setup.teacher)(batch, setup.teacher.targets(batch))


def test_softcapped_target_teaches_its_capped_distribution() -> None:
    config: DrafterConfig = CONFIG
    setup = tiny(config)
    teacher = Teacher(setup.head, setup.drafter.vocabulary, logit_softcap=2.0)
    states = DOCUMENTS[0].last_hidden
    capped = 2.0 * torch.tanh((states @ setup.head.T)[:, setup.drafter.vocabulary.token_ids] / 2.0)
    torch.testing.assert_close(teacher.draft_logits(states), capped)
