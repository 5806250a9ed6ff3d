"""The demo's model: the engine's greedy tokens are transformers' own, alone and in a mixed batch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from pipeline.draft_shape import DraftShape
from pipeline.drafter_config import for_target
from pipeline.initialisation import initialise
from pipeline.model import Drafter
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.draft_loading import drafter_source, lookup_source
from pipeline.serving.embedded.draft_source import DraftSource
from pipeline.serving.embedded.llama import LlamaRunner
from pipeline.serving.embedded.loading import LoadOptions, load
from pipeline.serving.embedded.offline import decode
from pipeline.target_weights import read_layer, read_target_weights
from pipeline.vocab import build_vocabulary
from tests.support.models import smollm2

pytestmark = pytest.mark.slow

NEW_TOKENS = 24
TREE = DraftShape(steps=3, topk=3, draft_tokens=8)
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


def test_drafts_change_no_token_of_smollm2() -> None:
    """The same in full, on hundreds of real prompts: bench/speculation.py --identity."""
    folder = smollm2()
    options = LoadOptions(model=folder, dtype="float32", device="cpu", threads=1, slots=8, context_length=512)
    loaded = load(options)
    prompts = [loaded.tokenizer.encode(text) for text in TEXTS]
    plain = decode(loaded.runner, None, prompts, max_new_tokens=NEW_TOKENS)
    drafter = started_drafter(folder, [answer.tokens for answer in plain])
    sources: list[DraftSource] = [lookup_source(loaded.runner, DraftShape())]
    sources += [drafter_source(drafter, loaded.runner, shape) for shape in (DraftShape(), TREE)]
    for source in sources:
        together = decode(loaded.runner, source, prompts, max_new_tokens=NEW_TOKENS)
        alone = decode(loaded.runner, source, prompts[:1], max_new_tokens=NEW_TOKENS)
        assert [answer.tokens for answer in (*together, *alone)] == [answer.tokens for answer in (*plain, plain[0])]
        assert sum(answer.verify_ct for answer in together) < len(prompts) * (NEW_TOKENS - 1)


def started_drafter(folder: Path, answers: Sequence[Sequence[int]]) -> Drafter:
    """Untrained, begun from its target's own weights, with the answers' tokens in its vocabulary."""
    target = read_target_weights(folder, dtype=torch.float32)
    tokens = torch.tensor([token for answer in answers for token in answer])
    vocabulary = build_vocabulary(torch.bincount(tokens, minlength=len(target.embedding)), 4096)
    config = for_target(target.config, draft_vocab_size=4096)
    drafter = Drafter(config, vocabulary, target.embedding)
    initialise(drafter, "target", seed=0, head=target.head, layer=read_layer(folder, 29))
    return drafter
