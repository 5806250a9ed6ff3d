"""An answer and its states → a document, as shards and training hold it."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pipeline.batching import Document
from pipeline.extraction.answers import Answer
from pipeline.extraction.states import States, Target


def read_documents(target: Target, answers: Sequence[Answer], dtype: torch.dtype) -> list[Document]:
    """One forward over some answers; the states rounded to `dtype`, on the target's device, the rest on the CPU."""
    states = target.read([answer.token_ids() for answer in answers])
    return [_document(target, answer, own, dtype) for answer, own in zip(answers, states, strict=True)]


def read_what_fits(
    target: Target, answers: Sequence[Answer], dtype: torch.dtype, on_misfit: Callable[[Answer, str], None]
) -> list[Document]:
    """Like `read_documents`, in halves where the whole does not fit into the device's memory.

    `on_misfit` is told of an answer that does not fit alone, and why.
    """
    try:
        return read_documents(target, answers, dtype)
    except torch.OutOfMemoryError as error:
        if len(answers) == 1:
            on_misfit(answers[0], f"does not fit into the device's memory: {error}")
            return []
    half = len(answers) // 2
    return [
        *read_what_fits(target, answers[:half], dtype, on_misfit),
        *read_what_fits(target, answers[half:], dtype, on_misfit),
    ]


def _document(target: Target, answer: Answer, states: States, dtype: torch.dtype) -> Document:
    last_hidden = states.last_hidden.to(dtype)
    mask = answer.loss_mask()
    return Document(
        token_ids=answer.token_ids(),
        loss_mask=mask,
        features=states.features.to(dtype),
        last_hidden=last_hidden,
        argmax=_best_tokens(target, last_hidden, mask),
        dataset=answer.dataset,
        name=answer.name,
    )


def _best_tokens(target: Target, last_hidden: Tensor, mask: Tensor) -> Tensor:
    """int64 [T]: what the states, as they are stored, give back; −1 where the next token was not generated."""
    before = mask[1:].nonzero().flatten()
    best = torch.full((len(mask),), -1)
    best[before] = target.best_tokens(last_hidden[before.to(last_hidden.device)]).cpu()
    return best
