"""A target model for a project of a World, so small that stages read it in seconds."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, LlamaConfig

from eagle3web.models import Project
from tests.support.tiny_model import SHAPE


def save_target(project: Project) -> None:
    """A model of seven layers beside the tokenizer that the project has."""
    folder = Path(project.tokenizer)
    torch.manual_seed(0)
    config = LlamaConfig(**SHAPE | {"num_hidden_layers": 7, "vocab_size": 512})
    model: Any = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    Project.objects.filter(pk=project.pk).update(target_path=str(folder))
