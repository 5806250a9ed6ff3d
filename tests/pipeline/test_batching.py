"""The off-by-one, row by row."""

import pytest
import torch

from pipeline.batching import Document, build_batch, label_positions
from pipeline.errors import DataError


def numbered(length: int, answers: list[tuple[int, int]], *, base: int = 0, argmax: bool = False) -> Document:
    """Token t has id base + t, its states hold that number too: what stands where can be read off."""
    ids = torch.arange(length) + base
    mask = torch.zeros(length, dtype=torch.bool)
    for start, end in answers:
        mask[start:end] = True
    states = ids[:, None].float()
    best = ids * 10 if argmax else None
    return Document(
        token_ids=ids, loss_mask=mask, features=states, last_hidden=states, argmax=best, dataset="B1", name=f"p{base}"
    )


def test_labels_start_at_the_third_token() -> None:
    assert label_positions(torch.tensor([True, True, True, False, True])).tolist() == [2, 4]


def test_batch_places_inputs_features_and_teachers_as_drawn() -> None:
    batch = build_batch([numbered(7, [(3, 7)])], steps=2)
    assert batch.features.flatten().tolist() == [0, 1, 2, 3, 4, 5]
    assert batch.tokens.tolist() == [1, 2, 3, 4, 5, 6]
    assert batch.positions.tolist() == [0, 1, 2, 3, 4, 5]
    assert batch.labels.tolist() == [3, 4, 5, 6]
    assert batch.teacher_states.flatten().tolist() == [2, 3, 4, 5]
    assert batch.query_rows.tolist() == [0, 1, 2, 3, 4]
    assert batch.step_tokens.tolist() == [[1, 2, 3, 4, 5], [2, 3, 4, 5, 6]]
    assert batch.label_rows.tolist() == [[1, 2, 3, 4], [0, 1, 2, 3]]


def test_nothing_past_the_end_is_a_label() -> None:
    batch = build_batch([numbered(6, [(3, 6)])], steps=4)
    assert batch.labels.tolist() == [3, 4, 5]
    for step in range(4):
        for label, row in zip(batch.labels.tolist(), batch.label_rows[step].tolist(), strict=True):
            if row >= 0:
                assert int(batch.query_rows[row]) + 2 + step == label


def test_first_draft_of_an_answer_is_trained() -> None:
    batch = build_batch([numbered(8, [(4, 8)])], steps=1)
    # A server drafts first from the prompt's last token and the first generated one: row 3, whose label is token 5.
    row = batch.label_rows[0, batch.labels.tolist().index(5)]
    assert int(batch.query_rows[row]) == 3
    assert int(batch.step_tokens[0, row]) == 4


def test_chains_that_would_start_before_the_document_are_left_out() -> None:
    batch = build_batch([numbered(5, [(2, 5)])], steps=3)
    assert batch.label_rows.tolist() == [[0, 1, 2], [-1, 0, 1], [-1, -1, 0]]


def test_packed_documents_keep_their_own_rows() -> None:
    batch = build_batch([numbered(4, [(2, 4)]), numbered(5, [(3, 5)], base=100)], steps=1)
    assert batch.spans == ((0, 3), (3, 7))
    assert batch.tokens.tolist() == [1, 2, 3, 101, 102, 103, 104]
    assert batch.positions.tolist() == [0, 1, 2, 0, 1, 2, 3]
    assert batch.query_rows.tolist() == [0, 1, 4, 5]
    assert batch.label_rows.tolist() == [[0, 1, 2, 3]]
    assert batch.query_documents.tolist() == [0, 0, 1, 1]
    assert batch.names == (("B1", "p0"), ("B1", "p100"))


def test_several_turns_train_only_generated_tokens() -> None:
    batch = build_batch([numbered(12, [(3, 5), (9, 11)])], steps=2)
    assert batch.labels.tolist() == [3, 4, 9, 10]
    assert batch.query_rows.tolist() == [0, 1, 2, 6, 7, 8]


def test_documents_without_a_label_are_left_out() -> None:
    batch = build_batch([numbered(5, []), numbered(5, [(3, 5)], base=100), numbered(2, [(0, 2)])], steps=1)
    assert batch.names == (("B1", "p100"),)


def test_all_zero_loss_mask_is_refused() -> None:
    with pytest.raises(DataError, match=r"loss mask is zero everywhere.*p0"):
        build_batch([numbered(5, [])], steps=1)


def test_argmax_is_taken_at_the_teacher_and_only_when_all_have_it() -> None:
    both = build_batch([numbered(4, [(2, 4)], argmax=True), numbered(4, [(3, 4)], argmax=True, base=5)], steps=1)
    assert both.argmax is not None
    assert both.argmax.tolist() == [10, 20, 70]
    assert build_batch([numbered(4, [(2, 4)], argmax=True), numbered(4, [(3, 4)])], steps=1).argmax is None


def test_document_of_unequal_lengths_is_refused() -> None:
    with pytest.raises(DataError, match=r"'x': lengths disagree.*'features': 3"):
        Document(
            token_ids=torch.arange(4),
            loss_mask=torch.ones(4),
            features=torch.ones(3, 1),
            last_hidden=torch.ones(4, 1),
            name="x",
        )


def test_to_moves_every_tensor() -> None:
    batch = build_batch([numbered(5, [(3, 5)])], steps=1).to(torch.device("meta"))
    assert batch.features.device.type == batch.label_rows.device.type == "meta"
    assert batch.spans == ((0, 4),)
