"""The demo's model: the engine's greedy tokens are transformers' own, alone and in a mixed batch."""

from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.llama import LlamaRunner
from pipeline.serving.embedded.loading import LoadOptions, load
from tests.support.models import smollm2

pytestmark = pytest.mark.slow

NEW_TOKENS = 24
TEXTS = (
    "The capital of France is",
    "def fibonacci(n):",
    "Write a short letter to a friend who has moved to another town, and ask how the first week went.",
)


def test_greedy_tokens_of_smollm2_are_transformers_own() -> None:
    folder = smollm2()
    loaded = load(LoadOptions(model=folder, dtype="float32", device="cpu", threads=1, slots=4, context_length=512))
    assert isinstance(loaded.runner, LlamaRunner)
    prompts = [loaded.tokenizer.encode(text) for text in TEXTS]

    answers = [[int(loaded.runner.extend(slot, ids).argmax())] for slot, ids in enumerate(prompts)]
    while len(answers[0]) < NEW_TOKENS:
        logits = loaded.runner.verify([Draft((answer[-1],)) for answer in answers])
        for slot, answer in enumerate(answers):
            loaded.runner.keep(slot, (0,))
            answer.append(int(logits[slot].argmax()))

    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    for ids, answer in zip(prompts, answers, strict=True):
        expected = model.generate(torch.tensor([ids]), max_new_tokens=NEW_TOKENS, do_sample=False, eos_token_id=None)
        assert answer == expected[0, len(ids) :].tolist()
