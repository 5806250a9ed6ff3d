"""The embedded engine against transformers' own generate: the same prompts, batch 1, 8 and 32, in one run, in turns.

    python bench/embedded_throughput.py [--model FOLDER] [--tokens N] [--threads N] [--repeats N] [--dtype float32|bfloat16]

Greedy, without end tokens, so that both decode the same number of tokens; a batch has prompts of one length, so that
transformers pays for no padding. Goals: 1.5 times as fast at batch 1, no slower at 32.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# As the engine's process has it: threads that wait for each other do not spin. To be said before torch loads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
sys.path.insert(0, str(Path(__file__).parent.parent))

import torch
from transformers import AutoModelForCausalLM

from bench.real_prompts import real_prompts
from pipeline.serving.embedded.loading import LoadOptions, load
from pipeline.serving.embedded.offline import decode
from pipeline.serving.embedded.runner import Runner
from pipeline.target_model import smollm2_folder

PROMPT_TOKENS = 64
GOALS = {1: 1.5, 8: None, 32: 1.0}


def main() -> None:
    """Parse, load both, measure in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=smollm2_folder(Path(__file__).parent.parent / "var"))
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    args = parser.parse_args()
    runner = load(
        LoadOptions(model=args.model, dtype=args.dtype, device="cpu", threads=args.threads, slots=32, context_length=512)
    ).runner
    model: Any = AutoModelForCausalLM.from_pretrained(args.model, dtype=getattr(torch, args.dtype))
    prompts = [ids[-PROMPT_TOKENS:] for ids in real_prompts(args.model, 64) if len(ids) >= PROMPT_TOKENS]
    print(f"{args.dtype}, {torch.get_num_threads()} threads, prompts of {PROMPT_TOKENS} tokens, {args.tokens} tokens each")
    for batch, goal in GOALS.items():
        ours, theirs = [], []
        for _ in range(args.repeats):
            ours.append(embedded(runner, prompts[:batch], args.tokens))
            theirs.append(generate(model, prompts[:batch], args.tokens))
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        aim = "" if goal is None else f" (goal {goal})"
        rates = f"{statistics.median(ours):6.1f} tokens/s, transformers {statistics.median(theirs):6.1f}"
        print(f"  batch {batch:2}: {rates}, ratio {ratio:.2f}{aim}")


def embedded(runner: Runner, prompts: Sequence[Sequence[int]], tokens: int) -> float:
    begin = time.perf_counter()
    decode(runner, None, prompts, max_new_tokens=tokens)
    return len(prompts) * tokens / (time.perf_counter() - begin)


def generate(model: Any, prompts: Sequence[Sequence[int]], tokens: int) -> float:  # noqa: ANN401  (a model of transformers)
    begin = time.perf_counter()
    ids = torch.tensor(prompts)
    with torch.inference_mode():
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False)
    return len(prompts) * tokens / (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
