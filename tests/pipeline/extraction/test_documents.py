from array import array
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pipeline.extraction.answers import Answer
from pipeline.extraction.documents import read_documents, read_what_fits
from pipeline.extraction.states import States


class CountingTarget:
    """Its states are the ids themselves; more than `room` tokens at once are too many for it."""

    def __init__(self, room: int) -> None:
        self.on_layer: Callable[[], None] = lambda: None
        self.batches: list[int] = []
        self._room = room

    def read(self, documents: Sequence[Tensor]) -> list[States]:
        if sum(map(len, documents)) > self._room:
            raise torch.OutOfMemoryError("no room")
        self.batches.append(len(documents))
        rows = [ids.float()[:, None] for ids in documents]
        return [States(features=row.repeat(1, 3), last_hidden=row) for row in rows]

    def best_tokens(self, last_hidden: Tensor) -> Tensor:
        return last_hidden[:, 0].long() + 1


def answers(*lengths: int) -> list[Answer]:
    return [
        Answer(dataset="B1", name=f"p{n}", ids=array("i", range(length)), prompt_tokens=2) for n, length in enumerate(lengths)
    ]


def test_document_holds_states_mask_and_the_most_likely_tokens_before_generated_ones() -> None:
    (document,) = read_documents(CountingTarget(100), answers(6), torch.bfloat16)
    assert (document.dataset, document.name, document.features.dtype) == ("B1", "p0", torch.bfloat16)
    assert document.loss_mask.tolist() == [False, False, True, True, True, True]
    assert document.argmax is not None
    assert document.argmax.tolist() == [-1, 2, 3, 4, 5, -1]


def test_batch_that_is_too_large_is_read_in_halves_and_what_never_fits_is_named() -> None:
    target, misfits = CountingTarget(12), list[tuple[str, str]]()
    documents = read_what_fits(
        target, answers(5, 30, 6, 6), torch.float32, lambda answer, why: misfits.append((answer.name, why))
    )
    assert [document.name for document in documents] == ["p0", "p2", "p3"]
    assert misfits == [("p1", "does not fit into the device's memory: no room")]
    assert target.batches == [1, 2]
