"""Reading answers for their hidden states: this project's two targets against a plain forward of transformers.

    python bench/extraction.py [--model FOLDER] [--documents N] [--threads N] [--repeats N]

* plain: transformers over one document at a time, with all hidden states and all logits, as a script would have it.
* padded: the target for any model, batches of up to 4,096 tokens; states of the chosen layers, logits of the answers.
* llama: the target for Llamas on a CPU, the embedded engine's forward.

Ratios are within one run, in alternating order. A machine that does other work too measures its queue for the processor.
"""

import argparse
import os
import statistics
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
sys.path.insert(0, str(Path(__file__).parent.parent))

import torch
from transformers import AutoModelForCausalLM

from pipeline.extraction.answers import Answer
from pipeline.extraction.documents import read_documents
from pipeline.extraction.llama_target import LlamaTarget
from pipeline.extraction.padding import length_batches
from pipeline.extraction.states import Target
from pipeline.extraction.transformers_target import TransformersTarget
from pipeline.target_layout import target_layout
from pipeline.target_model import smollm2_folder

LONGEST = 500


def main() -> None:
    """Load the model, read the same documents in the three ways, print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=smollm2_folder(Path(__file__).parent.parent / "var"))
    parser.add_argument("--documents", type=int, default=24)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)

    layout = target_layout(args.model)
    layers = layout.feature_layers.hidden_states
    model: Any = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32, local_files_only=True)
    model = model.eval()
    answers = made_up(args.documents, layout.vocab_size)

    def plain() -> None:
        with torch.inference_mode():
            for answer in answers:
                model(input_ids=answer.token_ids()[None], output_hidden_states=True, use_cache=False)

    padded, llama = TransformersTarget(model, layers), LlamaTarget(model, layers, max_length=LONGEST)
    ways = {"plain": plain, "padded": lambda: read(padded, answers), "llama": lambda: read(llama, answers)}
    tokens = sum(answer.tokens for answer in answers)
    rounds = [{name: timed(way) for name, way in ways.items()} for _ in range(1 + args.repeats)]
    seconds = {name: [one[name] for one in rounds[1:]] for name in ways}  # the first round warms up
    print(f"{len(answers)} documents, {tokens:,} tokens, float32, {args.threads} threads")
    base = statistics.median(seconds["plain"])
    for name, taken in seconds.items():
        median = statistics.median(taken)
        print(f"  {name:7} {tokens / median:8,.0f} tokens/s  {base / median:5.2f} × plain")


def made_up(count: int, vocab_size: int) -> list[Answer]:
    """Documents of 100 to LONGEST tokens; how fast they are read does not depend on what stands in them."""
    rng = Random(0)
    lengths = [rng.randint(100, LONGEST) for _ in range(count)]
    return [
        Answer(
            dataset="B1",
            name=str(n),
            ids=array("i", (rng.randrange(vocab_size) for _ in range(length))),
            prompt_tokens=length // 2,
        )
        for n, length in enumerate(lengths)
    ]


def read(target: Target, answers: list[Answer]) -> None:
    for batch in length_batches([answer.tokens for answer in answers], batch_tokens=4096):
        read_documents(target, [answers[index] for index in batch], torch.bfloat16)


def timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
