"""The packed forward against the drafter that is trained, row by row and guess by guess."""

import pytest
import torch
from torch import Tensor

from pipeline.model import Drafter
from pipeline.rows import Batch
from pipeline.serving.embedded.drafter_runner import DrafterRunner
from tests.support.tiny_drafter import CONFIG, tiny

ROWS, STEPS = 14, 3


@pytest.fixture(scope="module")
def drafter() -> Drafter:
    return tiny(dtype=torch.float32).drafter


@pytest.fixture
def runner(drafter: Drafter) -> DrafterRunner:
    return DrafterRunner(drafter, slots=3, context=40, dtype=torch.float32)


def inputs(seed: int) -> tuple[Tensor, Tensor]:
    """Tokens [STEPS, ROWS] of each step, features."""
    generator = torch.Generator().manual_seed(seed)
    return (
        torch.randint(CONFIG.vocab_size, (STEPS, ROWS), generator=generator),
        torch.randn(ROWS, 3 * CONFIG.hidden_size, generator=generator),
    )


def reference(drafter: Drafter, tokens: Tensor, features: Tensor) -> Tensor:
    """Logits of each step at each row, [STEPS, ROWS, N]: the training-time test unrolls exactly what decoding feeds back."""
    nothing = torch.empty(0, dtype=torch.int64)
    batch = Batch(
        features=features, tokens=tokens[0], positions=torch.arange(ROWS), spans=((0, ROWS),), query_rows=torch.arange(ROWS),
        step_tokens=tokens, query_documents=torch.zeros(ROWS, dtype=torch.int64), label_rows=nothing.view(1, 0),
        labels=nothing, teacher_states=torch.empty(0), argmax=None, names=(("d", "p"),),
    )  # fmt: skip
    with torch.no_grad():
        logits: Tensor = drafter.lm_head(drafter(batch))
    return logits


def unrolled(runner: DrafterRunner, slot_rows: list[tuple[Tensor, Tensor, int]]) -> Tensor:
    """Guesses after the last row of each slot, [STEPS, slots, N]; the last few rows are read as accepted drafts are."""
    news = []
    for slot, (tokens, features, fresh) in enumerate(slot_rows):
        runner.extend(slot, tokens[0, :-fresh].tolist(), features[:-fresh])
        news.append((tokens[0, -fresh:].tolist(), features[-fresh:]))
    hidden = runner.read([tokens for tokens, _ in news], torch.cat([features for _, features in news]))
    logits = [runner.logits(hidden)]
    for step in range(1, STEPS):
        hidden = runner.feed([[int(tokens[step, -1])] for tokens, _, _ in slot_rows], hidden)
        logits.append(runner.logits(hidden))
    for slot in range(len(slot_rows)):
        runner.rewind(slot, STEPS - 1)
    return torch.stack(logits)


def test_guesses_equal_the_trained_module(drafter: Drafter, runner: DrafterRunner) -> None:
    tokens, features = inputs(1)
    found = unrolled(runner, [(tokens, features, 1)])
    assert torch.allclose(found[:, 0], reference(drafter, tokens, features)[:, -1], atol=1e-4)


def test_a_batch_of_several_lengths_equals_each_alone(drafter: Drafter, runner: DrafterRunner) -> None:
    slots = [(*inputs(seed), fresh) for seed, fresh in ((1, 1), (2, 4), (3, 2))]
    found = unrolled(runner, slots)
    for slot, (tokens, features, _) in enumerate(slots):
        assert torch.allclose(found[:, slot], reference(drafter, tokens, features)[:, -1], atol=1e-4)


def test_each_branch_of_a_tree_equals_its_own_chain(drafter: Drafter, runner: DrafterRunner) -> None:
    """Two slots, three steps; in each slot the second step has the nodes a and b, the third a → c and b → d."""
    slots = [inputs(seed) for seed in (1, 2)]
    for slot, (tokens, features) in enumerate(slots):
        runner.extend(slot, tokens[0, : -1 - slot].tolist(), features[: -1 - slot])
    news = [(tokens[0, -1 - slot :].tolist(), features[-1 - slot :]) for slot, (tokens, features) in enumerate(slots)]
    first = runner.read([new for new, _ in news], torch.cat([features for _, features in news]))  # [2, H]
    a_b, own = torch.tensor([[3, 11], [7, 19]]), torch.eye(2, dtype=torch.bool).expand(2, -1, -1)
    second = runner.branch(a_b.tolist(), first.repeat_interleave(2, 0), 1, own)
    c_d = torch.tensor([[8, 9], [10, 12]])
    found = runner.logits(runner.branch(c_d.tolist(), second, 2, torch.cat((own, own), dim=-1)))
    for slot, (tokens, features) in enumerate(slots):
        for branch in range(2):
            chain = tokens.clone()
            chain[1, -1], chain[2, -1] = a_b[slot, branch], c_d[slot, branch]
            expected = reference(drafter, chain, features)[2, -1]
            assert torch.allclose(found[2 * slot + branch], expected, atol=1e-4)


def test_guesses_leave_no_trace(drafter: Drafter, runner: DrafterRunner) -> None:
    tokens, features = inputs(4)
    runner.extend(0, tokens[0, :9].tolist(), features[:9])
    hidden = runner.read([tokens[0, 9:10].tolist()], features[9:10])
    for token in (7, 11):
        hidden = runner.feed([[token]], hidden)
    runner.rewind(0, 2)
    hidden = runner.read([tokens[0, 10:].tolist()], features[10:])
    assert torch.allclose(runner.logits(hidden)[0], reference(drafter, tokens, features)[0, -1], atol=1e-4)


def test_guesses_are_the_targets_ids(drafter: Drafter, runner: DrafterRunner) -> None:
    assert runner.token_ids.tolist() == (drafter.d2t + torch.arange(CONFIG.draft_vocab_size)).tolist()
