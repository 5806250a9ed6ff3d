"""A tiny target that is deep enough for a drafter, and a drafter that guesses some of its tokens right."""

import json
from pathlib import Path

import torch
from transformers import LlamaConfig

from pipeline.checkpoint import save_checkpoint
from pipeline.drafter_config import for_target
from pipeline.initialisation import initialise
from pipeline.model import Drafter
from pipeline.target_weights import read_layer, read_target_weights
from pipeline.vocab import DraftVocabulary
from tests.support.tiny_model import SHAPE, VOCAB_SIZE, save_tiny_model

DRAFT_VOCAB_SIZE = 200


def save_deep_target(folder: Path) -> Path:
    return save_tiny_model(LlamaConfig(**(SHAPE | {"num_hidden_layers": 7}), tie_word_embeddings=True), folder)


def tiny_drafter_for(target: Path, *, seed: int = 0) -> Drafter:
    """Beside a target folder, started from the target's own weights."""
    weights = read_target_weights(target)
    config = for_target(json.loads((target / "config.json").read_text()), draft_vocab_size=DRAFT_VOCAB_SIZE)
    ids = torch.randperm(VOCAB_SIZE, generator=torch.Generator().manual_seed(seed))[:DRAFT_VOCAB_SIZE].sort().values
    drafter = Drafter(config, DraftVocabulary(ids, VOCAB_SIZE), weights.embedding.float())
    initialise(drafter, "target", seed=seed, head=weights.head, layer=read_layer(target, 6))
    return drafter


def save_tiny_drafter(target: Path, folder: Path) -> Path:
    save_checkpoint(folder, tiny_drafter_for(target), lineage={})
    return folder
