"""Speculative decoding in the embedded engine: what a verification costs, and what drafts gain over plain decoding.

    python bench/speculation.py [--model FOLDER] [--drafter CHECKPOINT] [--prompts N] [--tokens N] [--threads N]
                                [--repeats N] [--dtype float32|bfloat16] [--steps N] [--identity N]

* verify: the forward of k tokens over the forward of one, behind 300 tokens of cache, and the share of its time outside matrix
  products.
* decode: plain, prompt lookup and (with --drafter) the drafter, chain and tree, on the same prompts of eight kinds, one
  request at a time, in alternating order; medians, and in float32 whether all tokens are the plain ones.
* --identity N: in place of all that, N prompts with short answers, alone and eight at a time: are all tokens the plain ones?

Ratios are within one run. A machine that does other work too measures its queue for the processor: run it alone.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# As the engine's process has it: threads that wait for each other do not spin. To be said before torch loads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
sys.path.insert(0, str(Path(__file__).parent.parent))

import torch
from torch import Tensor

from bench.real_prompts import real_prompts
from pipeline.acceptance import served_accept_length
from pipeline.draft_shape import DraftShape
from pipeline.serving.embedded import linear, llama, packed_layer
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.draft_loading import checkpoint_source, lookup_source
from pipeline.serving.embedded.draft_source import DraftSource
from pipeline.serving.embedded.loading import LoadedModel, LoadOptions, load
from pipeline.serving.embedded.offline import Decoded, decode
from pipeline.target_model import smollm2_folder

CACHED = 300
WIDTHS = (1, 2, 4, 8, 16)
TREE = DraftShape(steps=3, topk=3, draft_tokens=8)


def main() -> None:
    """Parse, load, measure."""
    args = arguments()
    with timed_products() as product_seconds:
        loaded = load(
            LoadOptions(model=args.model, dtype=args.dtype, device="cpu", threads=args.threads, slots=8, context_length=1024)
        )
    if args.identity:
        check_identity(args, loaded)
        return
    print(f"verify ({args.dtype}, {torch.get_num_threads()} threads, {CACHED} tokens cached)")
    measure_verify(loaded, args.repeats, product_seconds)
    measure_decode(args, loaded)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", type=Path, default=smollm2_folder(Path(__file__).parent.parent / "var"))
    add("--drafter", type=Path)
    add("--prompts", type=int, default=8)
    add("--tokens", type=int, default=64)
    add("--threads", type=int)
    add("--repeats", type=int, default=5)
    add("--dtype", choices=("float32", "bfloat16"), default="float32")
    add("--steps", type=int, default=3)
    add("--identity", type=int, default=0, metavar="N")
    return parser.parse_args()


@contextmanager
def timed_products() -> Iterator[list[float]]:
    """Products of a model that is loaded inside add their seconds to the one number of the list."""
    total = [0.0]
    plain = linear.prepare

    def prepare(weight: Tensor) -> Callable[[Tensor], Tensor]:
        product = plain(weight)

        def timed(rows: Tensor) -> Tensor:
            begin = time.perf_counter()
            result = product(rows)
            total[0] += time.perf_counter() - begin
            return result

        return timed

    users = (llama, packed_layer)
    for user in users:
        user.prepare = prepare  # type: ignore[attr-defined]
    yield total
    for user in users:
        user.prepare = plain  # type: ignore[attr-defined]


def measure_verify(loaded: LoadedModel, repeats: int, product_seconds: Sequence[float]) -> None:
    runner = loaded.runner
    ids = torch.randint(runner.vocab_size, (CACHED,), generator=torch.Generator().manual_seed(0)).tolist()
    runner.extend(0, ids)
    seconds: dict[int, list[tuple[float, float]]] = {k: [] for k in WIDTHS}
    for _ in range(8 * repeats):
        for k in WIDTHS:
            before, begin = product_seconds[0], time.perf_counter()
            runner.verify([Draft(tuple(ids[:k]))])
            seconds[k].append((time.perf_counter() - begin, product_seconds[0] - before))
    runner.clear(0)
    # The fastest of many: whatever else the machine does only adds.
    best = {k: min(pairs) for k, pairs in seconds.items()}
    for k, (whole, products) in best.items():
        ratio, share = whole / best[1][0], 1 - products / whole
        print(f"  {k:2} tokens  {whole * 1e3:7.1f} ms  {ratio:5.2f} × one  {share:4.0%} outside products")


def measure_decode(args: argparse.Namespace, loaded: LoadedModel) -> None:
    prompts = real_prompts(args.model, args.prompts)
    chain = DraftShape(steps=args.steps, topk=1, draft_tokens=args.steps + 1)
    ways: dict[str, DraftSource | None] = {"plain": None, "lookup": lookup_source(loaded.runner, chain)}
    if args.drafter is not None:
        for name, shape in (("chain", chain), ("tree", TREE)):
            ways[f"drafter {name} {shape}"] = checkpoint_source(args.drafter, loaded.runner, shape)
    rates: dict[str, list[float]] = {name: [] for name in ways}
    answers: dict[str, list[Decoded]] = {}
    for round_number in range(args.repeats):
        order = list(ways.items()) if round_number % 2 == 0 else list(ways.items())[::-1]
        for name, source in order:
            begin = time.perf_counter()
            answers[name] = [decode_one(loaded, source, ids, args.tokens) for ids in prompts]
            rates[name].append(sum(len(answer.tokens) for answer in answers[name]) / (time.perf_counter() - begin))
    print(f"decode ({len(prompts)} prompts, {args.tokens} tokens, one at a time, {args.repeats} rounds)")
    for name in ways:
        ratios = [rate / plain for rate, plain in zip(rates[name], rates["plain"], strict=True)]
        spread = f"{statistics.median(ratios):.2f} × plain ({min(ratios):.2f}–{max(ratios):.2f})"
        line = f"  {name:20} {statistics.median(rates[name]):7.1f} tokens/s  {spread}"
        if ways[name] is not None:
            same = sum(a.tokens == b.tokens for a, b in zip(answers[name], answers["plain"], strict=True))
            length = served_accept_length([answer.served for answer in answers[name]])
            line += f"  accept length {length:.2f}  {same} of {len(prompts)} answers identical"
        print(line)


def decode_one(loaded: LoadedModel, source: DraftSource | None, ids: Sequence[int], tokens: int) -> Decoded:
    return decode(loaded.runner, source, [ids], max_new_tokens=tokens, stop_ids=loaded.eos_ids)[0]


def check_identity(args: argparse.Namespace, loaded: LoadedModel) -> None:
    """Exits with 1 when a token differs."""
    prompts = real_prompts(args.model, args.identity)
    chain = DraftShape(steps=args.steps, topk=1, draft_tokens=args.steps + 1)
    sources: dict[str, DraftSource] = {"lookup": lookup_source(loaded.runner, chain)}
    if args.drafter is not None:
        for shape in (chain, TREE):
            sources[f"drafter {shape}"] = checkpoint_source(args.drafter, loaded.runner, shape)
    plain = [decode_one(loaded, None, ids, args.tokens).tokens for ids in prompts]
    differing = 0
    for name, source in sources.items():
        alone = [decode_one(loaded, source, ids, args.tokens).tokens for ids in prompts]
        together = decode(loaded.runner, source, prompts, max_new_tokens=args.tokens, stop_ids=loaded.eos_ids)
        for how, found in (("alone", alone), ("8 at a time", [answer.tokens for answer in together])):
            same = sum(a == b for a, b in zip(found, plain, strict=True))
            differing += len(prompts) - same
            print(f"  {name}, {how}: {same} of {len(prompts)} answers identical", flush=True)
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
