import torch

from pipeline.batching import build_batch
from pipeline.drafter_config import expected_shapes
from tests.support.tiny_drafter import CONFIG, document, tiny


def test_state_is_named_and_shaped_as_a_checkpoint() -> None:
    state = tiny().drafter.state_dict()
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == expected_shapes(CONFIG)


def test_embedding_is_frozen_and_not_exported() -> None:
    drafter = tiny().drafter
    assert "embedding" not in drafter.state_dict()
    assert not drafter.embedding.requires_grad
    assert {id(drafter.embedding)}.isdisjoint(id(weight) for weight in drafter.parameters())


def test_output_before_the_norm_is_fed_back() -> None:
    setup = tiny()
    batch = build_batch([document(12, (5, 12), seed=1)], steps=3)
    first = setup.drafter(batch)
    with torch.no_grad():
        setup.drafter.norm.weight.mul_(3.0)
    # The norm scales what the head reads at each step and nothing that later steps build on.
    torch.testing.assert_close(setup.drafter(batch), 3.0 * first)


def test_one_step_batch_gives_the_first_step_of_a_longer_one() -> None:
    setup = tiny()
    made = document(12, (5, 12), seed=1)
    one, three = build_batch([made], steps=1), build_batch([made], steps=3)
    shared = torch.isin(three.query_rows, one.query_rows)
    torch.testing.assert_close(setup.drafter(three)[0][shared], setup.drafter(one)[0])


def test_later_tokens_do_not_reach_earlier_rows() -> None:
    setup = tiny()
    made = document(14, (5, 14), seed=1)
    batch = build_batch([made], steps=3)
    before = setup.drafter(batch)
    made.token_ids[10:] = (made.token_ids[10:] + 1) % CONFIG.vocab_size
    made.features[10:] += 1.0
    after = setup.drafter(build_batch([made], steps=3))
    for step in range(3):
        # Row p at step k reads the token p+1+k and features up to p.
        early = batch.query_rows + 1 + step < 10
        torch.testing.assert_close(after[step][early], before[step][early])
        assert not torch.equal(after[step][~early], before[step][~early])


def test_vocabulary_is_the_one_that_it_was_built_with() -> None:
    drafter = tiny().drafter
    assert torch.equal(drafter.vocabulary.t2d, drafter.t2d)
    assert torch.equal(drafter.vocabulary.d2t, drafter.d2t)
