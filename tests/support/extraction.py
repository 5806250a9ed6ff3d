"""A small target with answers to read, and extractions as real processes."""

import random
from pathlib import Path
from typing import Any

from transformers import LlamaConfig

from pipeline.answer_sets import AnswerSet
from pipeline.extraction.config import ExtractConfig
from pipeline.responses.record import Response
from pipeline.responses.store import ResponseStore
from tests.support.answers import SCOPE, answer
from tests.support.tiny_model import SHAPE, VOCAB_SIZE, save_tiny_model

SETS = (AnswerSet(dataset=SCOPE.dataset, revision=SCOPE.revision),)


def tiny_target(root: Path) -> Path:
    """A Llama of seven layers, so that the default feature layers fit."""
    return save_tiny_model(LlamaConfig(**SHAPE | {"num_hidden_layers": 7}), root / "target")


def random_answer(n: int, **changes: Any) -> Response:
    """The n-th answer, with a prompt and an answer of a length of their own."""
    rng = random.Random(n)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(3, VOCAB_SIZE) for _ in range(count))

    return answer(n, **{"prompt_ids": ids(rng.randint(2, 30)), "output_ids": ids(rng.randint(2, 40))} | changes)


def store_answers(root: Path, answers: list[Response]) -> Path:
    """A project's folder of responses with one dataset."""
    with ResponseStore(root / "responses" / SCOPE.dataset, SCOPE) as store:
        for one in answers:
            store.append(one)
    return root / "responses"


def extract_config(root: Path, **changes: Any) -> ExtractConfig:
    """Of what `tiny_target` and `store_answers` made below `root`."""
    values: dict[str, Any] = {
        "project": "p",
        "responses": str(root / "responses"),
        "datasets": SETS,
        "hidden": str(root / "hidden"),
        "target": str(root / "target"),
        "storage_dtype": "float32",
        "device": "cpu",
        "batch_tokens": 256,
    }
    return ExtractConfig(**values | changes)
