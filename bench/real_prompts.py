"""Prompts of the demo's eight datasets, tokenized, in turn."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from pipeline.datasets.demo.catalogue import demo_sources
from pipeline.datasets.demo.source import DemoSource

LONGEST = 320


def real_prompts(model: Path, count: int, *, longest: int = LONGEST) -> list[list[int]]:
    """Token ids of `count` prompts of at most `longest` tokens, as many of each dataset, always the same ones."""
    tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=True)
    sources = demo_sources()
    share = -(-count // len(sources))
    prompts = []
    for source in sources:
        fitting = (ids for ids in _tokenized(source, tokenizer) if len(ids) <= longest)
        prompts.append(list(islice(fitting, share)))
    return [ids for turn in zip(*prompts, strict=True) for ids in turn][:count]


def _tokenized(source: DemoSource, tokenizer: Any) -> Iterator[list[int]]:  # noqa: ANN401  (a tokenizer of transformers)
    for row in source.rows():
        messages = row.get("messages") or [{"role": "user", "content": row["prompt"]}]
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        yield tokenizer.encode(text, add_special_tokens=False)
